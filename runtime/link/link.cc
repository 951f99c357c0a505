#include "runtime/link/link.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/log.h"

namespace isthmus {
namespace {

// Of one pump(): bounds the time that the progress thread spends copying and sealing (about 1 ms).
constexpr std::size_t kMaxBytesPerPump = 2 * 1024 * 1024;
// How often overdue segments are looked for, and how many of the oldest are looked at.
constexpr Duration kOverdueInterval = std::chrono::milliseconds(5);
constexpr std::size_t kOverdueLooks = 256;
// Overdue by this many times the lane's patience: goes again even before new segments.
constexpr int kLongOverdue = 4;
constexpr int kMaxDoublings = 5;  // of the patience with a frame
// While segments are under way, so often something small leaves too, by which the peer sees the queue.
constexpr Duration kProbeInterval = std::chrono::milliseconds(10);
// What one lane may send of the link's pace, and all together: enough to make up for one that stalls, and not so much
// that what a stall has held back overruns the queue.
constexpr double kMostOfPace = 1.1, kMostOfAllLanes = 1.5;
// Sent of an operation before the peer has issued it: what the line carries in a round trip and so much longer, since
// the two directions of an exchange seldom end together. Without a pace, the least.
constexpr Duration kEagerTime = std::chrono::milliseconds(250);
constexpr std::uint64_t kLeastEagerBytes = 1024 * 1024;
constexpr Duration kMinPathPatience = std::chrono::seconds(1);

std::uint64_t token_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

std::size_t max_frame_bytes(const LaneLimits& limits) {
  return kFrameHeaderBytes + kMaxDescriptorBytes + limits.max_segment_bytes + FrameSeal::kMaxTrailerBytes;
}

}  // namespace

Link::Link(const LinkOptions& options, const Clock* clock, Transport* transport, Traffic* traffic, LineShare* share,
           std::string name, std::uint32_t epoch)
    : MatchingChannel(options.eager),
      options_(options),
      clock_(clock),
      transport_(transport),
      traffic_(traffic),
      share_(share),
      name_(std::move(name)),
      epoch_(epoch),
      sent_(max_frame_bytes(options.lane)),
      lane_count_(options.first_lanes, options.most_lanes) {
  share_->join(&part_);
  outbound_.limit_eager(kLeastEagerBytes);
}

void Link::begin_session(std::uint64_t session, FrameSeal seal) {
  session_ = session;
  seal_ = std::move(seal);
}

// ---------------------------------------------------------------------------------------------------- lanes

Link::Lane* Link::find_lane(LaneId id) {
  const auto found = std::find_if(lanes_.begin(), lanes_.end(), [&](const Lane& lane) { return lane.id == id; });
  return found == lanes_.end() ? nullptr : &*found;
}

std::vector<LaneId> Link::lane_ids() const {
  std::vector<LaneId> ids;
  for (const Lane& lane : lanes_) ids.push_back(lane.id);
  return ids;
}

void Link::lane_up(LaneId id, std::uint32_t serial) {
  Lane& lane = lanes_.emplace_back(id, serial, LaneMeter(options_.lane), LaneDelayMeter());
  for (int i = 0; i < kReceiveBuffersPerLane; ++i) {
    lane.buffers.push_back(std::make_unique<ReceiveBuffer>());
    lane.buffers.back()->bytes.resize(max_frame_bytes(options_.lane));
    post_receive(lane, lane.buffers.back().get());
  }
  heard_at_ = clock_->now();           // the path answered
  acknowledge_at_ = TimePoint::min();  // tells a peer that lost a lane what it need not send again
}

void Link::post_receive(Lane& lane, ReceiveBuffer* buffer) {
  // kFull cannot be: no adapter takes fewer than kReceiveBuffersPerLane. kDown: kLaneDown follows.
  if (transport_->receive(lane.id, buffer->bytes, token_of(buffer)) == PostResult::kFull)
    fail(internal_error("lane {} to {} takes fewer than {} receives", lane.id, name_, kReceiveBuffersPerLane));
}

void Link::lane_down(LaneId id) {
  std::erase_if(lanes_, [&](const Lane& lane) { return lane.id == id; });
  // In the order of their numbers, and before anything new.
  for (auto frame = sent_.kept().rbegin(); frame != sent_.kept().rend(); ++frame) {
    if (*frame == nullptr || !(*frame)->is_on(id)) continue;
    for (FrameCopy& copy : (*frame)->copies)
      if (copy.lane == id) copy = {};
    if ((*frame)->has_lane()) continue;
    (*frame)->was_resent = true;  // its acknowledgement may be under way already, and tells nothing of the next lane
    waiting_.push_front(*frame);
  }
  acknowledge_at_ = TimePoint::min();  // the last one may have been lost with the lane
}

void Link::on_sent(LaneId id, std::uint64_t token) {
  auto* frame = reinterpret_cast<OutFrame*>(static_cast<std::uintptr_t>(token));
  --frame->posted;
  if (Lane* lane = find_lane(id)) lane->is_full = false;
  if (frame->posted == 0 && (frame->is_acknowledged || frame->segment == 0)) sent_.release(frame);
}

void Link::on_received(LaneId id, std::uint64_t token, std::size_t bytes, const Status& status) {
  Lane* lane = find_lane(id);
  if (!status.ok() || lane == nullptr || !status_.ok()) return;
  auto* buffer = reinterpret_cast<ReceiveBuffer*>(static_cast<std::uintptr_t>(token));
  traffic_->received_bytes.add(bytes);
  const Result<ConstBytes> frame = seal_.open(MutableBytes(buffer->bytes).first(bytes));
  if (!frame.ok()) return on_bad_frame(id, frame.status());
  heard_at_ = clock_->now();
  const Status outcome = on_frame(*lane, *frame);
  if (!outcome.ok()) {
    fail(outcome.with_context(fmt::format("link to {}", name_)));
    return;
  }
  lane = find_lane(id);
  if (lane != nullptr) post_receive(*lane, buffer);
}

// Damaged on the way, or not from the peer: neither ends the link, and what the peer's link put there comes again.
void Link::on_bad_frame(LaneId id, const Status& why) {
  traffic_->bad_frames.add(1);
  log_warning("a lane to {} is closed: {}", name_, why.to_string());
  transport_->close(id);
}

// ---------------------------------------------------------------------------------------------------- receiving

Status Link::on_frame(Lane& lane, ConstBytes message) {
  ISTHMUS_ASSIGN_OR_RETURN(const Frame frame, decode_frame(message));
  if (frame.header.session != session_)
    return corruption("frame of session {:#x} on a link of session {:#x}", frame.header.session, session_);
  if (frame.header.epoch != epoch_) return corruption("frame of epoch {}, this is {}", frame.header.epoch, epoch_);
  note_delay(lane, frame.header.sent_us);
  if (frame.header.type == FrameType::kAck) return on_acknowledgement(frame);

  switch (arrived_.arrive(frame.header.segment)) {
    case ReceiveWindow::Arrival::kTooFar: return corruption("segment {} is too far ahead", frame.header.segment);
    case ReceiveWindow::Arrival::kDuplicate:
      traffic_->duplicate_bytes.add(message.size());
      acknowledge_at_ = TimePoint::min();
      return Status();
    case ReceiveWindow::Arrival::kNew: break;
  }
  ++arrivals_to_acknowledge_;
  if (acknowledge_at_ == kNever) acknowledge_at_ = clock_->now() + options_.ack_delay;
  if (frame.header.type == FrameType::kCredit) {
    take_credit(frame);
    return Status();
  }
  return inbound_.on_data(frame);
}

Status Link::on_acknowledgement(const Frame& frame) {
  ISTHMUS_ASSIGN_OR_RETURN(const Acknowledgement ack, decode_acknowledgement(frame.payload));
  const TimePoint now = clock_->now();
  for (const LaneDelay& delay : ack.delays)
    for (Lane& lane : lanes_)
      if (lane.serial == delay.lane_serial) lane.delay.report(delay.delay_us, now);
  return sent_.acknowledge(ack, [this](OutFrame* done) { acknowledged(done); });
}

std::uint32_t Link::now_us() const {
  const auto since_start = clock_->now().time_since_epoch();
  return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::microseconds>(since_start).count());
}

void Link::note_delay(Lane& lane, std::uint32_t sent_us) {
  const std::uint32_t delay_us = now_us() - sent_us;
  if (lane.owes_report && static_cast<std::int32_t>(delay_us - lane.delay_us) >= 0) return;
  lane.owes_report = true;
  lane.delay_us = delay_us;
}

Acknowledgement Link::acknowledgement() const {
  Acknowledgement ack = arrived_.acknowledgement();
  for (const Lane& lane : lanes_)
    if (lane.owes_report && ack.delays.size() < kMaxAckDelays) ack.delays.push_back({lane.serial, lane.delay_us});
  return ack;
}

void Link::acknowledged(OutFrame* frame) {
  const TimePoint now = clock_->now();
  const std::size_t bytes = frame->bytes.size();
  frame->is_acknowledged = true;
  delivered_bytes_ += bytes;
  pacer_.arrived(bytes);
  if (probe_at_ == kNever) probe_at_ = now + kProbeInterval;
  if (!frame->has_lane()) std::erase(waiting_, frame);
  for (FrameCopy& copy : frame->copies) {
    Lane* lane = find_lane(copy.lane);
    if (lane == nullptr) continue;
    if (frame->was_resent)
      lane->meter.forget(bytes);  // which copy it was cannot be told (Karn and Partridge, 1987)
    else
      lane->meter.arrive(copy.departed, bytes, now);
  }
  if (frame->posted == 0) sent_.release(frame);
}

TimePoint Link::silent_since() const { return sent_.empty() ? kNever : std::max(heard_at_, owing_since_); }

Duration Link::patience() const {
  Duration longest = kMinPathPatience;
  for (const Lane& lane : lanes_) longest = std::max(longest, 2 * (lane.meter.overdue_at(TimePoint()) - TimePoint()));
  return longest;
}

// ---------------------------------------------------------------------------------------------------- sending

std::size_t Link::data_lane_count() const {
  const std::size_t others = lanes_.size() > 1 ? 1 : 0;
  return std::min(lanes_.size() - others, static_cast<std::size_t>(lane_count_.count()));
}

std::uint64_t Link::under_way_bytes() const {
  std::uint64_t bytes = 0;
  for (const Lane& lane : lanes_) bytes += lane.meter.in_flight_bytes();
  return bytes;
}

std::uint64_t Link::retransmissions() const {
  std::uint64_t packets = 0;
  for (const Lane& lane : lanes_) packets += transport_->retransmissions(lane.id);
  return packets;
}

std::span<Link::Lane> Link::data_lanes() {
  return std::span(lanes_).subspan(lanes_.size() > 1 ? 1 : 0, data_lane_count());
}

bool Link::may_resend() const { return data_lane_count() > 1 && !sent_.empty(); }

Link::Lane* Link::lane_with_room(LaneId except) {
  Lane* best = nullptr;
  for (Lane& lane : data_lanes()) {
    if (lane.is_full || lane.id == except || !lane.meter.has_room()) continue;
    if (best == nullptr || lane.meter.fullness() < best->meter.fullness()) best = &lane;
  }
  return best;
}

Link::Lane* Link::lane_for_control() {
  for (Lane& lane : lanes_)
    if (!lane.is_full) return &lane;
  return nullptr;
}

// The next frame for a lane, numbered, sealed and kept; nullptr: nothing may be sent.
OutFrame* Link::next_frame(const Lane& lane) {
  if (!waiting_.empty()) {
    OutFrame* frame = waiting_.front();
    waiting_.pop_front();
    return frame;
  }
  OutboundSegment segment;
  if (!outbound_.next(lane.meter.segment_bytes(), &segment)) return nullptr;
  return frame_of(segment);
}

OutFrame* Link::frame_of(const OutboundSegment& segment) {
  if (sent_.empty()) owing_since_ = clock_->now();
  OutFrame* frame =
      sent_.take(kFrameHeaderBytes + segment.descriptor.size() + segment.payload.size() + seal_.trailer_bytes());
  FrameHeader header = segment.header;
  header.session = session_;
  header.epoch = epoch_;
  header.segment = sent_.keep(frame);
  header.sent_us = now_us();
  std::byte* body = frame->bytes.data() + kFrameHeaderBytes;
  if (!segment.descriptor.empty()) std::memcpy(body, segment.descriptor.data(), segment.descriptor.size());
  if (!segment.payload.empty())
    std::memcpy(body + segment.descriptor.size(), segment.payload.data(), segment.payload.size());
  const Status sealed = seal_.seal(header, frame->bytes);
  if (!sealed.ok()) fail(sealed.with_context(fmt::format("link to {}", name_)));
  outbound_.segment_taken();
  return frame;
}

bool Link::post(Lane& lane, OutFrame* frame) {
  if (transport_->send(lane.id, frame->bytes, token_of(frame)) != PostResult::kAccepted) {
    lane.is_full = true;  // a lane that is down is removed by its event
    return false;
  }
  ++frame->posted;
  traffic_->sent_bytes.add(frame->bytes.size());
  if (frame->was_resent) traffic_->resent_bytes.add(frame->bytes.size());
  if (frame->segment == 0) return true;
  if (probe_at_ == kNever) probe_at_ = clock_->now() + kProbeInterval;
  FrameCopy& copy = frame->copies[frame->copies[0].lane == 0 ? 0 : 1];
  copy.lane = lane.id;
  copy.departed = clock_->now();
  lane.meter.depart(frame->bytes.size());
  return true;
}

bool Link::send_acknowledgement() {
  Lane* lane = lane_for_control();
  if (lane == nullptr) return false;
  const Acknowledgement ack = acknowledgement();
  const std::string body = encode_acknowledgement(ack);
  FrameHeader header;
  header.type = FrameType::kAck;
  header.session = session_;
  header.epoch = epoch_;
  header.segment = next_acknowledgement_++;
  header.sent_us = now_us();
  header.raw_bytes = header.encoded_bytes = static_cast<std::uint32_t>(body.size());
  OutFrame* frame = sent_.take(kFrameHeaderBytes + body.size() + seal_.trailer_bytes());
  std::memcpy(frame->bytes.data() + kFrameHeaderBytes, body.data(), body.size());
  const Status sealed = seal_.seal(header, frame->bytes);
  if (!sealed.ok()) fail(sealed.with_context(fmt::format("link to {}", name_)));
  if (!post(*lane, frame)) {
    sent_.release(frame);
    return false;
  }
  for (const LaneDelay& delay : ack.delays)
    for (Lane& other : lanes_)
      if (other.serial == delay.lane_serial) other.owes_report = false;
  arrivals_to_acknowledge_ = 0;
  acknowledge_at_ = probe_at_ = kNever;
  return true;
}

// ---------------------------------------------------------------------------------------------------- overdue

void Link::drop_copy(OutFrame* frame, FrameCopy& copy) {
  if (Lane* lane = find_lane(copy.lane)) lane->meter.forget(frame->bytes.size());
  copy = {};
}

// On a line that is slower than was thought, copies of what is not lost lengthen the queue: after each one that was
// overdue the patience with its frame doubles, as TCP's does.
bool Link::resend(OutFrame* frame, TimePoint now, bool only_long) {
  const int factor = (only_long ? kLongOverdue : 1) * (1 << std::min(frame->overdue_resends, kMaxDoublings));
  FrameCopy& first = frame->copies[0];
  FrameCopy& second = frame->copies[1];
  for (const FrameCopy& copy : frame->copies) {  // every copy must be overdue
    const Lane* lane = find_lane(copy.lane);
    if (lane == nullptr) continue;
    const Duration patience = lane->meter.overdue_at(copy.departed) - copy.departed;
    if (now - copy.departed < factor * patience) return false;
  }
  const LaneId newest = second.lane != 0 ? second.lane : first.lane;
  Lane* lane = lane_with_room(newest);
  if (lane == nullptr || frame->is_on(lane->id) || !pacer_.may_send(now)) return false;
  if (first.lane != 0 && second.lane != 0) drop_copy(frame, first);
  const bool was_resent = std::exchange(frame->was_resent, true);
  if (!post(*lane, frame)) {
    frame->was_resent = was_resent;
    if (first.lane == 0) std::swap(first, second);
    return false;
  }
  ++frame->overdue_resends;
  pacer_.sent(frame->bytes.size(), now);
  if (first.departed > second.departed && second.lane != 0) std::swap(first, second);
  return true;
}

bool Link::resend_overdue(bool only_long) {
  const TimePoint now = clock_->now();
  bool any = false;
  std::size_t looks = 0;
  for (OutFrame* frame : sent_.kept()) {
    if (frame == nullptr) continue;
    if (++looks > kOverdueLooks) break;
    if (frame->has_lane()) any |= resend(frame, now, only_long);
  }
  return any;
}

// ---------------------------------------------------------------------------------------------------- pump

bool Link::pump_credits() {
  bool did_something = false;
  OutboundSegment credit;
  Lane* lane = nullptr;
  while (outbound_.has_credits() && (lane = lane_for_control()) != nullptr && outbound_.next(0, &credit)) {
    OutFrame* frame = frame_of(credit);
    if (!status_.ok()) break;
    if (!post(*lane, frame)) waiting_.push_front(frame);
    did_something = true;
  }
  return did_something;
}

bool Link::looks_for_overdue(TimePoint now) {
  if (!may_resend() || now < look_for_overdue_at_) return false;
  look_for_overdue_at_ = now + kOverdueInterval;
  return true;
}

bool Link::pump_frames(TimePoint now) {
  const bool looks = looks_for_overdue(now);
  bool did_something = looks && resend_overdue(true);
  bool is_backlogged = false;
  std::size_t bytes = 0;
  Lane* lane = nullptr;
  for (;;) {
    lane = lane_with_room();
    is_backlogged = !outbound_.empty() || !waiting_.empty();
    if (lane == nullptr || bytes >= kMaxBytesPerPump || !pacer_.may_send(now)) break;
    OutFrame* frame = next_frame(*lane);
    if (frame == nullptr || !status_.ok()) {
      is_backlogged = false;
      break;
    }
    if (!post(*lane, frame)) {
      waiting_.push_front(frame);
      continue;  // the lane is full now: another one
    }
    pacer_.sent(frame->bytes.size(), now);
    bytes += frame->bytes.size();
    did_something = true;
  }
  pacer_.note_load(is_backlogged, under_way_bytes());
  part_.waiting_bytes = outbound_.waiting_bytes();
  if (is_backlogged) part_.busy_at = now;
  if (looks && !is_backlogged) did_something |= resend_overdue(false);
  const bool are_lanes_limit = is_backlogged && lane == nullptr && pacer_.may_send(now);
  lane_count_.observe(delivered_bytes_, are_lanes_limit, static_cast<int>(data_lanes().size()),
                      data_lanes().front().meter.round_trip(), now);
  return did_something;
}

// The queue is seen by the small frames of the first lane: nothing of ours waits before them in a socket, and of many
// in an epoch the luckiest was not held back by a loss. A lane that is alone shows its own backlog, and no queue.
void Link::pace(TimePoint now) {
  const Duration round_trip = data_lanes().front().meter.round_trip();
  if (!pacer_.is_epoch_over(round_trip, now)) return;
  LaneDelayMeter& delay = lanes_.front().delay;
  part_.bytes_per_sec = pacer_.bytes_per_sec();
  const double fairness = share_->fairness(part_, now);
  pacer_.note_retransmissions(retransmissions());
  const bool is_seen = delay.has_queue() && lanes_.size() > 1;
  if (pacer_.end_epoch(is_seen ? delay.queue() : Duration(-1), round_trip, fairness, now)) delay.take_as_base();
  delay.next_epoch();
  const double eager_bytes = pacer_.bytes_per_sec() * to_seconds(round_trip + kEagerTime);
  outbound_.limit_eager(std::max(kLeastEagerBytes, static_cast<std::uint64_t>(eager_bytes)));
  limit_lanes();
}

// BBR rates a line too high whose acknowledgements come bunched, and bursts at several times its rate while it is given
// less than it could send; what a stall has held back would then overrun the queue.
void Link::limit_lanes() {
  const double pace = pacer_.bytes_per_sec();
  const auto lanes = static_cast<double>(data_lanes().size());
  if (pacer_.is_starting()) return;  // TCP finds its own way
  for (const Lane& lane : data_lanes())
    transport_->limit_rate(lane.id, pace * std::min(kMostOfPace, kMostOfAllLanes / lanes));
}

bool Link::pump() {
  if (!status_.ok() || lanes_.empty()) return false;
  const TimePoint now = clock_->now();
  bool did_something = false;
  if (arrivals_to_acknowledge_ >= kAckEvery || now >= std::min(acknowledge_at_, probe_at_))
    did_something = send_acknowledgement();
  did_something |= pump_credits();
  if (!status_.ok()) return did_something;
  pace(now);
  return pump_frames(now) || did_something;
}

TimePoint Link::next_due() const {
  if (lanes_.empty() || !status_.ok()) return kNever;
  TimePoint due = kNever;
  // A full lane's kSent wakes the thread.
  if (std::any_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return !lane.is_full; }))
    due = std::min(acknowledge_at_, probe_at_);
  if (may_resend()) due = std::min(due, look_for_overdue_at_);
  if (!drained() && !pacer_.may_send(clock_->now())) due = std::min(due, pacer_.next_send_at());
  return due;
}

}  // namespace isthmus
