// The operations over blocks that differ in size.
#include "bindings/c/call.h"

using isthmus::CallOptions;
using isthmus::Communicator;
using isthmus::DataType;
using isthmus::ReduceOp;
using isthmus::c_api::counts_of;
using isthmus::c_api::run;
using WorkResult = isthmus::Communicator::WorkResult;

isthmus_status isthmus_all_gather_v(isthmus_communicator* communicator, const void* send, void* recv,
                                    const size_t* counts, isthmus_dtype dtype, const isthmus_call_options* options,
                                    isthmus_work** work) {
  return run("isthmus_all_gather_v", communicator, dtype, ISTHMUS_SUM, options, work,
             [&](Communicator& c, DataType t, ReduceOp, const CallOptions& call) -> WorkResult {
               ISTHMUS_ASSIGN_OR_RETURN(const auto of_ranks, counts_of("isthmus_all_gather_v", c, counts));
               return c.all_gather_v(send, recv, of_ranks, t, call);
             });
}

isthmus_status isthmus_reduce_scatter_v(isthmus_communicator* communicator, const void* send, void* recv,
                                        const size_t* counts, isthmus_dtype dtype, isthmus_op op,
                                        const isthmus_call_options* options, isthmus_work** work) {
  return run("isthmus_reduce_scatter_v", communicator, dtype, op, options, work,
             [&](Communicator& c, DataType t, ReduceOp o, const CallOptions& call) -> WorkResult {
               ISTHMUS_ASSIGN_OR_RETURN(const auto of_ranks, counts_of("isthmus_reduce_scatter_v", c, counts));
               return c.reduce_scatter_v(send, recv, of_ranks, t, o, call);
             });
}

isthmus_status isthmus_gather_v(isthmus_communicator* communicator, const void* send, void* recv, const size_t* counts,
                                isthmus_dtype dtype, int root, const isthmus_call_options* options,
                                isthmus_work** work) {
  return run("isthmus_gather_v", communicator, dtype, ISTHMUS_SUM, options, work,
             [&](Communicator& c, DataType t, ReduceOp, const CallOptions& call) -> WorkResult {
               ISTHMUS_ASSIGN_OR_RETURN(const auto of_ranks, counts_of("isthmus_gather_v", c, counts));
               return c.gather_v(send, recv, of_ranks, t, root, call);
             });
}

isthmus_status isthmus_scatter_v(isthmus_communicator* communicator, const void* send, void* recv, const size_t* counts,
                                 isthmus_dtype dtype, int root, const isthmus_call_options* options,
                                 isthmus_work** work) {
  return run("isthmus_scatter_v", communicator, dtype, ISTHMUS_SUM, options, work,
             [&](Communicator& c, DataType t, ReduceOp, const CallOptions& call) -> WorkResult {
               ISTHMUS_ASSIGN_OR_RETURN(const auto of_ranks, counts_of("isthmus_scatter_v", c, counts));
               return c.scatter_v(send, recv, of_ranks, t, root, call);
             });
}

isthmus_status isthmus_all_to_all_v(isthmus_communicator* communicator, const void* send, const size_t* send_counts,
                                    void* recv, const size_t* recv_counts, isthmus_dtype dtype,
                                    const isthmus_call_options* options, isthmus_work** work) {
  return run("isthmus_all_to_all_v", communicator, dtype, ISTHMUS_SUM, options, work,
             [&](Communicator& c, DataType t, ReduceOp, const CallOptions& call) -> WorkResult {
               ISTHMUS_ASSIGN_OR_RETURN(const auto out, counts_of("isthmus_all_to_all_v", c, send_counts));
               ISTHMUS_ASSIGN_OR_RETURN(const auto in, counts_of("isthmus_all_to_all_v", c, recv_counts));
               return c.all_to_all_v(send, out, recv, in, t, call);
             });
}
