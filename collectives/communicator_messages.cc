// Messages of a communicator: checks of the arguments, and the one step of each.
#include "collectives/call_checks.h"
#include "collectives/communicator.h"
#include "collectives/schedule/ping.h"
#include "collectives/schedule/point_to_point.h"

namespace isthmus {
namespace {

constexpr std::uint32_t kPingTag = kFirstReservedTag + 1;

}  // namespace

// Both ends have the same descriptor.
Result<Communicator::Launch> Communicator::prepare_message(const Message& message) const {
  const char* const words = message.is_send ? "send" : "recv";
  ISTHMUS_RETURN_IF_ERROR(check_call(words, message.count, message.type, 1));
  const std::size_t bytes = message.count * dtype_size_bytes(message.type);
  const bool from_any = !message.is_send && message.peer == kAnySource;
  if (!from_any)
    ISTHMUS_RETURN_IF_ERROR(check_rank(words, message.is_send ? "destination" : "source", message.peer, size()));
  if (from_any && runtime_->options().eager_bytes == 0)
    return unsupported("{}: from any rank takes messages that have arrived, and with eager_bytes 0 none does", words);
  if (message.peer == rank_) return invalid_argument("{}: rank {} is this rank itself", words, message.peer);
  ISTHMUS_RETURN_IF_ERROR(check_pointer(words, "buffer", message.buffer, bytes));
  if (message.tag >= kFirstReservedTag)
    return invalid_argument("{}: tag {} is reserved; the largest is {}", words, message.tag, kFirstReservedTag - 1);
  if (size() > static_cast<int>(kMaxPointToPointRanks))
    return unsupported("{}: messages are for communicators of at most {} ranks, this one has {}", words,
                       kMaxPointToPointRanks, size());
  Launch launched;
  launched.words = words;
  launched.descriptor = {OperationKind::kPointToPoint, message.type, ReduceOp::kSum, 0, 0, message.count, 0};
  if (!from_any)  // from any: when it is known from whom
    launched.schedule = std::make_shared<Schedule>(message.is_send ? build_send(message.peer, bytes)
                                                                   : build_receive(message.peer, bytes));
  launched.is_message = true;
  launched.input = launched.output = message.buffer;
  launched.sender = message.is_send ? rank_ : message.peer;
  launched.receiver = message.is_send ? message.peer : rank_;
  launched.tag = message.tag;
  return launched;
}

Communicator::WorkResult Communicator::send(const void* buffer, std::size_t count, DataType type, int destination,
                                            const CallOptions& options) {
  return launch(prepare_message({true, const_cast<void*>(buffer), count, type, destination, options.tag}), options);
}

Communicator::WorkResult Communicator::receive(void* buffer, std::size_t count, DataType type, int source,
                                               const CallOptions& options) {
  return launch(prepare_message({false, buffer, count, type, source, options.tag}), options);
}

// A message to whom it is one byte, and which is answered.
Communicator::WorkResult Communicator::ping(int peer, bool starts) {
  ISTHMUS_RETURN_IF_ERROR(check_call("ping", 1, DataType::kUInt8, 1));
  Launch launched;
  launched.words = "ping";
  launched.descriptor = {OperationKind::kPointToPoint, DataType::kUInt8, ReduceOp::kSum, 0, 0, 1, 0};
  launched.schedule = std::make_shared<Schedule>(build_ping(peer, starts));
  launched.is_message = true;
  launched.sender = starts ? rank_ : peer;
  launched.receiver = starts ? peer : rank_;
  launched.tag = kPingTag;
  return launch(launched, CallOptions());
}

Communicator::WorkResult Communicator::batch(std::span<const Message> messages, const CallOptions& options) {
  std::vector<Launch> launches;
  for (const Message& message : messages) {
    const Result<Launch> prepared = prepare_message(message);
    if (!prepared.ok()) return prepared.status().with_context(fmt::format("message {} of a batch", launches.size()));
    launches.push_back(*prepared);
  }
  ISTHMUS_RETURN_IF_ERROR(check_call("batch", 0, DataType::kUInt8, 1));
  return launch_together(fmt::format("batch of {} messages", launches.size()), launches, options);
}

}  // namespace isthmus
