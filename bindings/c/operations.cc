#include <chrono>
#include <string_view>

#include "bindings/c/call.h"

using isthmus::CallOptions;
using isthmus::Communicator;
using isthmus::DataType;
using isthmus::ReduceOp;
using isthmus::c_api::run;
using WorkResult = isthmus::Communicator::WorkResult;

isthmus::Result<isthmus::CallOptions> isthmus::c_api::call_options(const isthmus_call_options* from) {
  ISTHMUS_ASSIGN_OR_RETURN(const isthmus_call_options options,
                           isthmus::c_api::read_struct(from, "isthmus_call_options"));
  if (options.timeout_ms < 0)
    return isthmus::invalid_argument("isthmus_call_options: timeout_ms {} is negative", options.timeout_ms);
  if (options.memory_kind != ISTHMUS_MEMORY_HOST)
    return isthmus::unsupported("isthmus_call_options: memory_kind {}; this library moves host memory ({})",
                                static_cast<int>(options.memory_kind), static_cast<int>(ISTHMUS_MEMORY_HOST));
  if (options.stream != nullptr)
    return isthmus::invalid_argument("isthmus_call_options: a stream is given for host memory");
  if (options.codec != nullptr && std::string_view(options.codec) != "none")
    return isthmus::unsupported("isthmus_call_options: codec \"{}\"; only \"none\" is supported", options.codec);
  isthmus::CallOptions result;
  result.timeout = isthmus::duration_of_ms(options.timeout_ms);
  result.tag = options.tag;
  result.priority = options.priority;
  if (options.premul_factor != nullptr) result.premul_factor = *options.premul_factor;
  return result;
}

isthmus_status isthmus_allreduce(isthmus_communicator* communicator, const void* send, void* recv, size_t count,
                                 isthmus_dtype dtype, isthmus_op op, const isthmus_call_options* options,
                                 isthmus_work** work) {
  return run("isthmus_allreduce", communicator, dtype, op, options, work,
             [&](Communicator& c, DataType t, ReduceOp o, const CallOptions& call) -> WorkResult {
               return c.allreduce(send, recv, count, t, o, call);
             });
}

isthmus_status isthmus_reduce(isthmus_communicator* communicator, const void* send, void* recv, size_t count,
                              isthmus_dtype dtype, isthmus_op op, int root, const isthmus_call_options* options,
                              isthmus_work** work) {
  return run("isthmus_reduce", communicator, dtype, op, options, work,
             [&](Communicator& c, DataType t, ReduceOp o, const CallOptions& call) -> WorkResult {
               return c.reduce(send, recv, count, t, o, root, call);
             });
}

isthmus_status isthmus_broadcast(isthmus_communicator* communicator, void* buffer, size_t count, isthmus_dtype dtype,
                                 int root, const isthmus_call_options* options, isthmus_work** work) {
  return run("isthmus_broadcast", communicator, dtype, ISTHMUS_SUM, options, work,
             [&](Communicator& c, DataType t, ReduceOp, const CallOptions& call) -> WorkResult {
               return c.broadcast(buffer, count, t, root, call);
             });
}

isthmus_status isthmus_all_gather(isthmus_communicator* communicator, const void* send, void* recv, size_t count,
                                  isthmus_dtype dtype, const isthmus_call_options* options, isthmus_work** work) {
  return run("isthmus_all_gather", communicator, dtype, ISTHMUS_SUM, options, work,
             [&](Communicator& c, DataType t, ReduceOp, const CallOptions& call) -> WorkResult {
               return c.all_gather(send, recv, count, t, call);
             });
}

isthmus_status isthmus_reduce_scatter(isthmus_communicator* communicator, const void* send, void* recv, size_t count,
                                      isthmus_dtype dtype, isthmus_op op, const isthmus_call_options* options,
                                      isthmus_work** work) {
  return run("isthmus_reduce_scatter", communicator, dtype, op, options, work,
             [&](Communicator& c, DataType t, ReduceOp o, const CallOptions& call) -> WorkResult {
               return c.reduce_scatter(send, recv, count, t, o, call);
             });
}

isthmus_status isthmus_gather(isthmus_communicator* communicator, const void* send, void* recv, size_t count,
                              isthmus_dtype dtype, int root, const isthmus_call_options* options, isthmus_work** work) {
  return run("isthmus_gather", communicator, dtype, ISTHMUS_SUM, options, work,
             [&](Communicator& c, DataType t, ReduceOp, const CallOptions& call) -> WorkResult {
               return c.gather(send, recv, count, t, root, call);
             });
}

isthmus_status isthmus_scatter(isthmus_communicator* communicator, const void* send, void* recv, size_t count,
                               isthmus_dtype dtype, int root, const isthmus_call_options* options,
                               isthmus_work** work) {
  return run("isthmus_scatter", communicator, dtype, ISTHMUS_SUM, options, work,
             [&](Communicator& c, DataType t, ReduceOp, const CallOptions& call) -> WorkResult {
               return c.scatter(send, recv, count, t, root, call);
             });
}

isthmus_status isthmus_all_to_all(isthmus_communicator* communicator, const void* send, void* recv, size_t count,
                                  isthmus_dtype dtype, const isthmus_call_options* options, isthmus_work** work) {
  return run("isthmus_all_to_all", communicator, dtype, ISTHMUS_SUM, options, work,
             [&](Communicator& c, DataType t, ReduceOp, const CallOptions& call) -> WorkResult {
               return c.all_to_all(send, recv, count, t, call);
             });
}

isthmus_status isthmus_barrier(isthmus_communicator* communicator, const isthmus_call_options* options,
                               isthmus_work** work) {
  return run(
      "isthmus_barrier", communicator, ISTHMUS_UINT8, ISTHMUS_SUM, options, work,
      [&](Communicator& c, DataType, ReduceOp, const CallOptions& call) -> WorkResult { return c.barrier(call); });
}

isthmus_status isthmus_send(isthmus_communicator* communicator, const void* buffer, size_t count, isthmus_dtype dtype,
                            int destination, const isthmus_call_options* options, isthmus_work** work) {
  return run("isthmus_send", communicator, dtype, ISTHMUS_SUM, options, work,
             [&](Communicator& c, DataType t, ReduceOp, const CallOptions& call) -> WorkResult {
               return c.send(buffer, count, t, destination, call);
             });
}

isthmus_status isthmus_recv(isthmus_communicator* communicator, void* buffer, size_t count, isthmus_dtype dtype,
                            int source, const isthmus_call_options* options, isthmus_work** work) {
  return run("isthmus_recv", communicator, dtype, ISTHMUS_SUM, options, work,
             [&](Communicator& c, DataType t, ReduceOp, const CallOptions& call) -> WorkResult {
               return c.receive(buffer, count, t, source, call);
             });
}
