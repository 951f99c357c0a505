#include "runtime/link/link.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/log.h"

namespace isthmus {
namespace {

// Of one pump(): bounds the time that the progress thread spends copying (about 1 ms).
constexpr int kMaxFramesPerPump = 64;

std::uint64_t token_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

}  // namespace

Link::Link(const LinkOptions& options, const Clock* clock, Transport* transport, Traffic* traffic, std::string name,
           std::uint32_t epoch)
    : MatchingChannel(options.eager),
      options_(options),
      clock_(clock),
      transport_(transport),
      traffic_(traffic),
      name_(std::move(name)),
      epoch_(epoch) {}

// ---------------------------------------------------------------------------------------------------- lanes

Link::Lane* Link::find_lane(LaneId id) {
  const auto found = std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& lane) { return lane.id == id; });
  return found == lanes_.end() ? nullptr : &*found;
}

const std::vector<LaneId> Link::lane_ids() const {
  std::vector<LaneId> ids;
  for (const Lane& lane : lanes_) ids.push_back(lane.id);
  return ids;
}

void Link::lane_up(LaneId id) {
  Lane& lane = lanes_.emplace_back();
  lane.id = id;
  for (int i = 0; i < kReceiveBuffersPerLane; ++i) {
    lane.buffers.push_back(std::make_unique<ReceiveBuffer>());
    lane.buffers.back()->bytes.resize(kFrameHeaderBytes + kMaxDescriptorBytes + options_.segment_bytes);
    post_receive(lane, lane.buffers.back().get());
  }
  acknowledge_at_ = TimePoint::min();  // tells a peer that lost a lane what it need not send again
}

void Link::post_receive(Lane& lane, ReceiveBuffer* buffer) {
  // kFull cannot be: no adapter takes fewer than kReceiveBuffersPerLane. kDown: kLaneDown follows.
  if (transport_->receive(lane.id, buffer->bytes, token_of(buffer)) == PostResult::kFull)
    fail(internal_error("lane {} to {} takes fewer than {} receives", lane.id, name_, kReceiveBuffersPerLane));
}

void Link::lane_down(LaneId id) {
  for (auto lane = lanes_.begin(); lane != lanes_.end(); ++lane) {
    if (lane->id != id) continue;
    lanes_.erase(lane);
    break;
  }
  // In the order of their numbers, and before anything new.
  for (auto frame = unacknowledged_.rbegin(); frame != unacknowledged_.rend(); ++frame) {
    if (*frame == nullptr || (*frame)->lane != id) continue;
    (*frame)->lane = 0;
    waiting_.push_front(*frame);
  }
}

void Link::on_sent(LaneId id, std::uint64_t token) {
  auto* frame = reinterpret_cast<OutFrame*>(static_cast<std::uintptr_t>(token));
  frame->posted = false;
  if (Lane* lane = find_lane(id)) lane->is_full = false;
  if (frame->acknowledged || frame->segment == 0) release(frame);
}

void Link::on_received(LaneId id, std::uint64_t token, std::size_t bytes, const Status& status) {
  Lane* lane = find_lane(id);
  if (!status.ok() || lane == nullptr || !status_.ok()) return;
  auto* buffer = reinterpret_cast<ReceiveBuffer*>(static_cast<std::uintptr_t>(token));
  traffic_->received_bytes.add(bytes);
  const Status outcome = on_frame(ConstBytes(buffer->bytes).first(bytes));
  if (!outcome.ok()) {
    fail(outcome.with_context(fmt::format("link to {}", name_)));
    return;
  }
  lane = find_lane(id);
  if (lane != nullptr) post_receive(*lane, buffer);
}

// ---------------------------------------------------------------------------------------------------- receiving

Status Link::on_frame(ConstBytes message) {
  ISTHMUS_ASSIGN_OR_RETURN(const Frame frame, decode_frame(message));
  if (frame.header.session != session_)
    return corruption("frame of session {:#x} on a link of session {:#x}", frame.header.session, session_);
  if (frame.header.epoch != epoch_) return corruption("frame of epoch {}, this is {}", frame.header.epoch, epoch_);
  if (frame.header.type == FrameType::kAck) return on_acknowledgement(frame);

  switch (arrived_.arrive(frame.header.segment)) {
    case ReceiveWindow::Arrival::kTooFar: return corruption("segment {} is too far ahead", frame.header.segment);
    case ReceiveWindow::Arrival::kDuplicate: acknowledge_at_ = TimePoint::min(); return Status();
    case ReceiveWindow::Arrival::kNew: break;
  }
  ++arrivals_to_acknowledge_;
  if (acknowledge_at_ == kNever) acknowledge_at_ = clock_->now() + options_.ack_delay;
  if (frame.header.type == FrameType::kCredit) {
    outbound_.on_credit(frame.header.operation, frame.header.offset);
    return Status();
  }
  return inbound_.on_data(frame);
}

Status Link::on_acknowledgement(const Frame& frame) {
  ISTHMUS_ASSIGN_OR_RETURN(const Acknowledgement ack, decode_acknowledgement(frame.payload));
  const std::uint64_t last = ack.ranges.empty() ? ack.cumulative : ack.ranges.back().last;
  if (last >= next_segment_)
    return corruption("segment {} acknowledged, {} was the last sent", last, next_segment_ - 1);
  for (const SegmentRange& range : ack.ranges) {
    for (std::uint64_t segment = std::max(range.first, first_unacknowledged_); segment <= range.last; ++segment) {
      OutFrame*& slot = unacknowledged_[segment - first_unacknowledged_];
      if (slot != nullptr) acknowledge(std::exchange(slot, nullptr));
    }
  }
  while (!unacknowledged_.empty() && (first_unacknowledged_ <= ack.cumulative || unacknowledged_.front() == nullptr)) {
    OutFrame* frame_done = unacknowledged_.front();
    unacknowledged_.pop_front();
    ++first_unacknowledged_;
    if (frame_done != nullptr) acknowledge(frame_done);
  }
  return Status();
}

void Link::acknowledge(OutFrame* frame) {
  frame->acknowledged = true;
  if (Lane* lane = find_lane(frame->lane)) lane->in_flight_bytes -= frame->bytes.size();
  if (frame->lane == 0) std::erase(waiting_, frame);
  if (!frame->posted) release(frame);
}

// ---------------------------------------------------------------------------------------------------- sending

Link::OutFrame* Link::take_frame(std::size_t bytes) {
  if (free_frames_.empty()) {
    frames_.push_back(std::make_unique<OutFrame>());
    frames_.back()->bytes.reserve(kFrameHeaderBytes + kMaxDescriptorBytes + options_.segment_bytes);
    free_frames_.push_back(frames_.back().get());
  }
  OutFrame* frame = free_frames_.back();
  free_frames_.pop_back();
  frame->bytes.resize(bytes);
  frame->segment = 0;
  frame->lane = 0;
  frame->posted = frame->acknowledged = false;
  return frame;
}

void Link::release(OutFrame* frame) { free_frames_.push_back(frame); }

Link::Lane* Link::lane_with_room() {
  Lane* best = nullptr;
  for (Lane& lane : lanes_) {
    if (lane.is_full || lane.in_flight_bytes >= options_.lane_window_bytes) continue;
    if (best == nullptr || lane.in_flight_bytes < best->in_flight_bytes) best = &lane;
  }
  return best;
}

// The next frame to post, numbered and kept; nullptr: nothing may be sent.
Link::OutFrame* Link::next_frame() {
  if (!waiting_.empty()) {
    OutFrame* frame = waiting_.front();
    if (frame->posted) return nullptr;  // its dead lane has not returned the buffer yet
    waiting_.pop_front();
    return frame;
  }
  OutboundSegment segment;
  if (!outbound_.next(options_.segment_bytes, &segment)) return nullptr;
  segment.header.session = session_;
  segment.header.epoch = epoch_;
  segment.header.segment = next_segment_;
  OutFrame* frame = take_frame(kFrameHeaderBytes + segment.descriptor.size() + segment.payload.size());
  frame->segment = next_segment_++;
  encode_frame_header(segment.header, frame->bytes.data());
  std::byte* body = frame->bytes.data() + kFrameHeaderBytes;
  if (!segment.descriptor.empty()) std::memcpy(body, segment.descriptor.data(), segment.descriptor.size());
  if (!segment.payload.empty())
    std::memcpy(body + segment.descriptor.size(), segment.payload.data(), segment.payload.size());
  unacknowledged_.push_back(frame);
  outbound_.segment_taken();
  return frame;
}

bool Link::post(Lane& lane, OutFrame* frame) {
  if (transport_->send(lane.id, frame->bytes, token_of(frame)) != PostResult::kAccepted) {
    lane.is_full = true;  // a lane that is down is removed by its event
    return false;
  }
  frame->posted = true;
  traffic_->sent_bytes.add(frame->bytes.size());
  if (frame->segment != 0) {
    frame->lane = lane.id;
    lane.in_flight_bytes += frame->bytes.size();
  }
  return true;
}

bool Link::send_acknowledgement() {
  Lane* lane = lane_with_room();
  for (Lane& other : lanes_)
    if (lane == nullptr && !other.is_full) lane = &other;
  if (lane == nullptr) return false;
  const std::string body = encode_acknowledgement(arrived_.acknowledgement());
  FrameHeader header;
  header.type = FrameType::kAck;
  header.session = session_;
  header.epoch = epoch_;
  header.raw_bytes = header.encoded_bytes = static_cast<std::uint32_t>(body.size());
  OutFrame* frame = take_frame(kFrameHeaderBytes + body.size());
  encode_frame_header(header, frame->bytes.data());
  std::memcpy(frame->bytes.data() + kFrameHeaderBytes, body.data(), body.size());
  if (!post(*lane, frame)) {
    release(frame);
    return false;
  }
  arrivals_to_acknowledge_ = 0;
  acknowledge_at_ = kNever;
  return true;
}

bool Link::pump() {
  if (!status_.ok() || lanes_.empty()) return false;
  bool did_something = false;
  if (arrivals_to_acknowledge_ >= kAckEvery || (acknowledge_at_ != kNever && clock_->now() >= acknowledge_at_))
    did_something = send_acknowledgement();
  for (int i = 0; i < kMaxFramesPerPump; ++i) {
    Lane* lane = lane_with_room();
    if (lane == nullptr) break;
    OutFrame* frame = next_frame();
    if (frame == nullptr) break;
    if (!post(*lane, frame)) waiting_.push_front(frame);
    did_something = true;
  }
  return did_something;
}

TimePoint Link::next_due() const { return lanes_.empty() || !status_.ok() ? kNever : acknowledge_at_; }

}  // namespace isthmus
