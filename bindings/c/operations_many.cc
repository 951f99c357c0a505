// The operations over many buffers or messages.
#include <vector>

#include "bindings/c/call.h"

using isthmus::CallOptions;
using isthmus::Communicator;
using isthmus::DataType;
using isthmus::ReduceOp;
using isthmus::c_api::read_structs;
using isthmus::c_api::run;
using WorkResult = isthmus::Communicator::WorkResult;

namespace {

isthmus::Result<std::vector<isthmus::BufferPair>> buffers_of(const isthmus_buffer* from, size_t count) {
  ISTHMUS_ASSIGN_OR_RETURN(const auto given, read_structs(from, count, "isthmus_buffer"));
  std::vector<isthmus::BufferPair> buffers;
  for (const isthmus_buffer& buffer : given) {
    if (!isthmus::is_valid_dtype(buffer.dtype))
      return isthmus::invalid_argument("isthmus_buffer: {} is no isthmus_dtype", static_cast<int>(buffer.dtype));
    buffers.push_back({buffer.send, buffer.recv, buffer.count, static_cast<DataType>(buffer.dtype)});
  }
  return buffers;
}

isthmus::Result<std::vector<isthmus::Message>> messages_of(const isthmus_message* from, size_t count) {
  ISTHMUS_ASSIGN_OR_RETURN(const auto given, read_structs(from, count, "isthmus_message"));
  std::vector<isthmus::Message> messages;
  for (const isthmus_message& message : given) {
    if (!isthmus::is_valid_dtype(message.dtype))
      return isthmus::invalid_argument("isthmus_message: {} is no isthmus_dtype", static_cast<int>(message.dtype));
    if (message.is_send != 0 && message.is_send != 1)
      return isthmus::invalid_argument("isthmus_message: is_send is {}; 0 and 1 are known", message.is_send);
    messages.push_back({message.is_send == 1, message.buffer, message.count, static_cast<DataType>(message.dtype),
                        message.peer, message.tag});
  }
  return messages;
}

}  // namespace

isthmus_status isthmus_allreduce_coalesced(isthmus_communicator* communicator, const isthmus_buffer* buffers,
                                           size_t buffer_count, isthmus_op op, const isthmus_call_options* options,
                                           isthmus_work** work) {
  return run("isthmus_allreduce_coalesced", communicator, ISTHMUS_UINT8, op, options, work,
             [&](Communicator& c, DataType, ReduceOp o, const CallOptions& call) -> WorkResult {
               ISTHMUS_ASSIGN_OR_RETURN(const auto all, buffers_of(buffers, buffer_count));
               return c.allreduce_coalesced(all, o, call);
             });
}

isthmus_status isthmus_all_gather_coalesced(isthmus_communicator* communicator, const isthmus_buffer* buffers,
                                            size_t buffer_count, const isthmus_call_options* options,
                                            isthmus_work** work) {
  return run("isthmus_all_gather_coalesced", communicator, ISTHMUS_UINT8, ISTHMUS_SUM, options, work,
             [&](Communicator& c, DataType, ReduceOp, const CallOptions& call) -> WorkResult {
               ISTHMUS_ASSIGN_OR_RETURN(const auto all, buffers_of(buffers, buffer_count));
               return c.all_gather_coalesced(all, call);
             });
}

isthmus_status isthmus_reduce_scatter_coalesced(isthmus_communicator* communicator, const isthmus_buffer* buffers,
                                                size_t buffer_count, isthmus_op op, const isthmus_call_options* options,
                                                isthmus_work** work) {
  return run("isthmus_reduce_scatter_coalesced", communicator, ISTHMUS_UINT8, op, options, work,
             [&](Communicator& c, DataType, ReduceOp o, const CallOptions& call) -> WorkResult {
               ISTHMUS_ASSIGN_OR_RETURN(const auto all, buffers_of(buffers, buffer_count));
               return c.reduce_scatter_coalesced(all, o, call);
             });
}

isthmus_status isthmus_batch_send_recv(isthmus_communicator* communicator, const isthmus_message* messages,
                                       size_t message_count, const isthmus_call_options* options, isthmus_work** work) {
  return run("isthmus_batch_send_recv", communicator, ISTHMUS_UINT8, ISTHMUS_SUM, options, work,
             [&](Communicator& c, DataType, ReduceOp, const CallOptions& call) -> WorkResult {
               ISTHMUS_ASSIGN_OR_RETURN(const auto all, messages_of(messages, message_count));
               return c.batch(all, call);
             });
}
