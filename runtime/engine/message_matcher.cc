#include "runtime/engine/message_matcher.h"

namespace isthmus {

void MessageMatcher::post(OperationRequest request, TimePoint now) {
  const TimePoint deadline = deadline_after(now, request.timeout);
  waiting_[request.key.tag].push_back({std::move(request), deadline});
}

OperationKey MessageMatcher::key_of_next(const OperationKey& base, std::uint32_t sender) const {
  OperationKey key = base;
  const auto last = last_.find({sender, base.tag});
  key.sequence = (last == last_.end() ? 0 : last->second) + 1;
  key.pair = point_to_point_pair(sender, own_rank_);
  return key;
}

std::optional<std::uint32_t> MessageMatcher::earliest_sender(const OperationKey& base) const {
  std::optional<std::uint32_t> sender;
  std::uint64_t earliest = 0;
  for (std::uint32_t rank = 0; rank < rank_count_; ++rank) {
    if (rank == own_rank_) continue;
    const std::uint64_t arrival = arrival_(rank, key_of_next(base, rank));
    if (arrival == 0 || (sender && arrival > earliest)) continue;
    sender = rank;
    earliest = arrival;
  }
  return sender;
}

OperationRequest MessageMatcher::take_front(std::uint32_t tag, std::uint32_t sender) {
  const auto queue = waiting_.find(tag);
  OperationRequest request = std::move(queue->second.front().request);
  queue->second.pop_front();
  if (queue->second.empty()) waiting_.erase(queue);
  request.key = key_of_next(request.key, sender);
  last_[{sender, tag}] = request.key.sequence;
  return request;
}

std::optional<OperationRequest> MessageMatcher::next_matched() {
  for (const auto& [tag, queue] : waiting_) {
    const OperationRequest& first = queue.front().request;
    if (first.receives_from) return take_front(tag, *first.receives_from);
    const std::optional<std::uint32_t> sender = earliest_sender(first.key);
    if (!sender) continue;
    OperationRequest request = take_front(tag, *sender);
    request.schedule = request.on_matched(*sender);
    return request;
  }
  return std::nullopt;
}

std::vector<OperationRequest> MessageMatcher::take_all() {
  std::vector<OperationRequest> all;
  for (auto& [tag, queue] : waiting_)
    for (Waiting& waiting : queue) all.push_back(std::move(waiting.request));
  waiting_.clear();
  return all;
}

Status MessageMatcher::check(TimePoint now, const std::function<bool(std::uint32_t rank)>& has_left) const {
  for (const auto& [tag, queue] : waiting_) {
    for (const Waiting& waiting : queue) {
      const OperationRequest& request = waiting.request;
      if (now >= waiting.deadline)
        return deadline_exceeded("{}: no message for {:.1f} s", request.what, to_seconds(request.timeout));
      bool can_come = false;
      for (std::uint32_t rank = 0; rank < rank_count_ && !can_come; ++rank)
        can_come = rank != own_rank_ && request.receives_from.value_or(rank) == rank && !has_left(rank);
      if (!can_come) return unavailable("{}: every rank that could send it has left the group", request.what);
    }
  }
  return Status();
}

}  // namespace isthmus
