#include "collectives/local/shm/shm_channel.h"

#include <cstring>

#include "runtime/link/frame.h"

namespace isthmus {
namespace {

// Small enough that the reader can follow while the writer fills the next one.
constexpr std::size_t kPayloadBytes = 64 * 1024;
// Of one progress(): bounds the time that the progress thread spends copying.
constexpr int kMessagesPerTurn = 16;

}  // namespace

ShmChannel::ShmChannel(EagerLimits limits, Traffic* traffic, std::string name, ShmRingReader reader)
    : MatchingChannel(limits), traffic_(traffic), name_(std::move(name)), reader_(std::move(reader)) {}

void ShmChannel::attach(ShmMate mate, ShmRingWriter writer) {
  mate_.emplace(std::move(mate));
  writer_.emplace(std::move(writer));
}

bool ShmChannel::drained() const {
  if (!writer_) return true;
  return outbound_.empty() && writer_->drained();
}

bool ShmChannel::progress() {
  if (!status_.ok()) return false;
  const bool took = take_messages();
  const bool put = put_messages();
  return took || put;
}

bool ShmChannel::take_messages() {
  bool any = false;
  for (int i = 0; i < kMessagesPerTurn && status_.ok(); ++i) {
    const auto message = reader_.peek();
    if (!message) break;
    any = true;
    traffic_->received_bytes.add(message->size());
    const Result<Frame> frame = decode_frame(*message);
    Status outcome = frame.status();
    if (outcome.ok() && (*frame).header.type == FrameType::kCredit)
      take_credit(*frame);
    else if (outcome.ok())
      outcome = inbound_.on_data(*frame);
    if (!outcome.ok()) fail(outcome.with_context(fmt::format("shared memory with {}", name_)));
    if (reader_.pop() && mate_) mate_->wake();
  }
  if (!reader_.status().ok()) fail(reader_.status().with_context(fmt::format("shared memory with {}", name_)));
  return any;
}

bool ShmChannel::put_messages() {
  if (!writer_) return false;
  bool any = false;
  for (int i = 0; i < kMessagesPerTurn && status_.ok(); ++i) {
    OutboundSegment segment;
    if (!outbound_.next(kPayloadBytes, &segment)) break;
    const std::size_t bytes = kFrameHeaderBytes + segment.descriptor.size() + segment.payload.size();
    const auto room = writer_->try_reserve(bytes);
    if (!room) break;
    segment.header.segment = 1;  // rings neither lose nor reorder, so nobody counts
    encode_frame_header(segment.header, room->data());
    std::byte* body = room->data() + kFrameHeaderBytes;
    if (!segment.descriptor.empty()) std::memcpy(body, segment.descriptor.data(), segment.descriptor.size());
    if (!segment.payload.empty())
      std::memcpy(body + segment.descriptor.size(), segment.payload.data(), segment.payload.size());
    traffic_->sent_bytes.add(bytes);
    if (writer_->commit()) mate_->wake();
    outbound_.segment_taken();
    any = true;
  }
  if (!writer_->status().ok()) fail(writer_->status().with_context(fmt::format("shared memory with {}", name_)));
  return any;
}

bool ShmChannel::arm() {
  if (!status_.ok()) return true;
  if (!reader_.arm()) return false;
  OutboundSegment segment;
  if (!writer_ || !outbound_.next(kPayloadBytes, &segment)) return true;
  return writer_->arm(kFrameHeaderBytes + segment.descriptor.size() + segment.payload.size());
}

}  // namespace isthmus
