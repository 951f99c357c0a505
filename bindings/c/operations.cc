#include <chrono>
#include <string_view>

#include "bindings/c/handles.h"

using isthmus::c_api::guard;

namespace {

isthmus::Result<isthmus::CallOptions> call_options(const isthmus_call_options* from) {
  ISTHMUS_ASSIGN_OR_RETURN(const isthmus_call_options options,
                           isthmus::c_api::read_struct(from, "isthmus_call_options"));
  if (options.timeout_ms < 0)
    return isthmus::invalid_argument("isthmus_call_options: timeout_ms {} is negative", options.timeout_ms);
  if (options.memory_kind != ISTHMUS_MEMORY_HOST)
    return isthmus::unsupported("isthmus_call_options: memory_kind {}; this library moves host memory ({})",
                                static_cast<int>(options.memory_kind), static_cast<int>(ISTHMUS_MEMORY_HOST));
  if (options.stream != nullptr)
    return isthmus::invalid_argument("isthmus_call_options: a stream is given for host memory");
  if (options.priority != 0)
    return isthmus::unsupported("isthmus_call_options: priority {}; only 0 is supported", options.priority);
  if (options.codec != nullptr && std::string_view(options.codec) != "none")
    return isthmus::unsupported("isthmus_call_options: codec \"{}\"; only \"none\" is supported", options.codec);
  isthmus::CallOptions result;
  result.timeout = std::chrono::milliseconds(options.timeout_ms);
  result.tag = options.tag;
  return result;
}

// The common frame of all operations: `call` starts it on the communicator; then the work is handed out or waited for.
template <typename Call>
isthmus_status run(const char* name, isthmus_communicator* communicator, int dtype, int op,
                   const isthmus_call_options* options, isthmus_work** work, Call&& call) {
  return guard([&]() -> isthmus::Status {
    if (work != nullptr) *work = nullptr;
    if (communicator == nullptr) return isthmus::invalid_argument("{}: communicator is null", name);
    if (!isthmus::is_valid_dtype(dtype)) return isthmus::invalid_argument("{}: {} is no isthmus_dtype", name, dtype);
    if (!isthmus::is_valid_reduce_op(op)) return isthmus::invalid_argument("{}: {} is no isthmus_op", name, op);
    ISTHMUS_ASSIGN_OR_RETURN(const isthmus::CallOptions resolved, call_options(options));
    ISTHMUS_ASSIGN_OR_RETURN(std::shared_ptr<isthmus::Work> started,
                             call(*communicator->communicator, static_cast<isthmus::DataType>(dtype),
                                  static_cast<isthmus::ReduceOp>(op), resolved));
    if (work == nullptr) return started->wait(isthmus::Duration(-1));
    *work = new isthmus_work{std::move(started)};
    return isthmus::Status();
  });
}

}  // namespace

isthmus_status isthmus_allreduce(isthmus_communicator* communicator, const void* send, void* recv, size_t count,
                                 isthmus_dtype dtype, isthmus_op op, const isthmus_call_options* options,
                                 isthmus_work** work) {
  return run("isthmus_allreduce", communicator, dtype, op, options, work,
             [&](isthmus::Communicator& c, isthmus::DataType t, isthmus::ReduceOp o, const isthmus::CallOptions& call) {
               return c.allreduce(send, recv, count, t, o, call);
             });
}

isthmus_status isthmus_broadcast(isthmus_communicator* communicator, void* buffer, size_t count, isthmus_dtype dtype,
                                 int root, const isthmus_call_options* options, isthmus_work** work) {
  return run("isthmus_broadcast", communicator, dtype, ISTHMUS_SUM, options, work,
             [&](isthmus::Communicator& c, isthmus::DataType t, isthmus::ReduceOp, const isthmus::CallOptions& call) {
               return c.broadcast(buffer, count, t, root, call);
             });
}

isthmus_status isthmus_all_gather(isthmus_communicator* communicator, const void* send, void* recv, size_t count,
                                  isthmus_dtype dtype, const isthmus_call_options* options, isthmus_work** work) {
  return run("isthmus_all_gather", communicator, dtype, ISTHMUS_SUM, options, work,
             [&](isthmus::Communicator& c, isthmus::DataType t, isthmus::ReduceOp, const isthmus::CallOptions& call) {
               return c.all_gather(send, recv, count, t, call);
             });
}

isthmus_status isthmus_reduce_scatter(isthmus_communicator* communicator, const void* send, void* recv, size_t count,
                                      isthmus_dtype dtype, isthmus_op op, const isthmus_call_options* options,
                                      isthmus_work** work) {
  return run("isthmus_reduce_scatter", communicator, dtype, op, options, work,
             [&](isthmus::Communicator& c, isthmus::DataType t, isthmus::ReduceOp o, const isthmus::CallOptions& call) {
               return c.reduce_scatter(send, recv, count, t, o, call);
             });
}

isthmus_status isthmus_barrier(isthmus_communicator* communicator, const isthmus_call_options* options,
                               isthmus_work** work) {
  return run("isthmus_barrier", communicator, ISTHMUS_UINT8, ISTHMUS_SUM, options, work,
             [&](isthmus::Communicator& c, isthmus::DataType, isthmus::ReduceOp, const isthmus::CallOptions& call) {
               return c.barrier(call);
             });
}

isthmus_status isthmus_send(isthmus_communicator* communicator, const void* buffer, size_t count, isthmus_dtype dtype,
                            int destination, const isthmus_call_options* options, isthmus_work** work) {
  return run("isthmus_send", communicator, dtype, ISTHMUS_SUM, options, work,
             [&](isthmus::Communicator& c, isthmus::DataType t, isthmus::ReduceOp, const isthmus::CallOptions& call) {
               return c.send(buffer, count, t, destination, call);
             });
}

isthmus_status isthmus_recv(isthmus_communicator* communicator, void* buffer, size_t count, isthmus_dtype dtype,
                            int source, const isthmus_call_options* options, isthmus_work** work) {
  return run("isthmus_recv", communicator, dtype, ISTHMUS_SUM, options, work,
             [&](isthmus::Communicator& c, isthmus::DataType t, isthmus::ReduceOp, const isthmus::CallOptions& call) {
               return c.receive(buffer, count, t, source, call);
             });
}
