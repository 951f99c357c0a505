#include "runtime/transport/loopback/lane.h"

#include <cstring>

namespace isthmus {

bool LoopbackWire::send(int side, ConstBytes message, std::uint64_t token) {
  std::lock_guard lock(mutex_);
  if (down_) return false;
  directions_[side].sends.push({message, token});
  match(side);
  return true;
}

bool LoopbackWire::receive(int side, MutableBytes buffer, std::uint64_t token) {
  std::lock_guard lock(mutex_);
  if (down_) return false;
  directions_[1 - side].receives.push({buffer, token});
  match(1 - side);
  return true;
}

void LoopbackWire::close(int side, const Status& work, const Status& reason, const Status& theirs) {
  std::lock_guard lock(mutex_);
  if (!down_) fail(side, work, reason, theirs);
}

void LoopbackWire::match(int from) {
  Direction& d = directions_[from];
  while (!d.receives.empty() && !d.copies.empty()) {
    Copy copy = d.copies.pop();
    d.copied_bytes -= copy.size();
    if (!take_into(from, copy)) return;
    d.spare.push_back(std::move(copy));
  }
  while (!d.receives.empty() && !d.sends.empty()) {
    const PostedSend send = d.sends.front();
    if (!take_into(from, send.message)) return;
    d.sends.pop();
    post(from, TransportEventKind::kSent, send.token, 0, Status());
  }
  buffer_sends(from);
}

// False when the message did not fit and the wire went down.
bool LoopbackWire::take_into(int from, ConstBytes message) {
  const PostedReceive receive = directions_[from].receives.front();
  if (message.size() > receive.buffer.size()) {
    const Status why = corruption("a message of {} bytes came for a buffer of {} bytes on the lane from {} to {}",
                                  message.size(), receive.buffer.size(), ends_[from].address, ends_[1 - from].address);
    fail(1 - from, why, why, unavailable("the peer {} closed the lane", ends_[1 - from].address));
    return false;
  }
  directions_[from].receives.pop();
  std::memcpy(receive.buffer.data(), message.data(), message.size());
  post(1 - from, TransportEventKind::kReceived, receive.token, message.size(), Status());
  return true;
}

void LoopbackWire::buffer_sends(int from) {
  Direction& d = directions_[from];
  while (!d.sends.empty()) {
    const ConstBytes message = d.sends.front().message;
    if (d.copied_bytes != 0 && d.copied_bytes + message.size() > kLoopbackBufferBytes) return;
    Copy copy;
    if (!d.spare.empty()) {
      copy = std::move(d.spare.back());
      d.spare.pop_back();
    }
    copy.assign(message.begin(), message.end());
    d.copied_bytes += copy.size();
    d.copies.push(std::move(copy));
    post(from, TransportEventKind::kSent, d.sends.pop().token, 0, Status());
  }
}

void LoopbackWire::fail(int side, const Status& work, const Status& reason, const Status& theirs) {
  down_ = true;
  return_posted(side, work);
  return_posted(1 - side, theirs);
  post(side, TransportEventKind::kLaneDown, 0, 0, reason);
  post(1 - side, TransportEventKind::kLaneDown, 0, 0, theirs);
  directions_ = {};
}

void LoopbackWire::return_posted(int side, const Status& status) {
  auto& sends = directions_[side].sends;
  while (!sends.empty()) post(side, TransportEventKind::kSent, sends.pop().token, 0, status);
  auto& receives = directions_[1 - side].receives;
  while (!receives.empty()) post(side, TransportEventKind::kReceived, receives.pop().token, 0, status);
}

void LoopbackWire::post(int side, TransportEventKind kind, std::uint64_t token, std::size_t bytes, Status status) {
  LoopbackMail mail;
  mail.event.kind = kind;
  mail.event.lane = ends_[side].lane;
  mail.event.token = token;
  mail.event.bytes = bytes;
  mail.event.status = std::move(status);
  ends_[side].mailbox->post(std::move(mail));
}

}  // namespace isthmus
