#include "runtime/engine/call_log.h"

#include <algorithm>

namespace isthmus {

void CallLog::called(std::uint64_t sequence, std::string descriptor, std::string what,
                     std::function<std::string(std::string_view theirs)> describe) {
  if (calls_.empty()) calls_.resize(kKept);
  Call& call = calls_[sequence % kKept];
  call = {sequence, std::move(descriptor), std::move(what), std::move(describe)};
  last_called_ = std::max(last_called_, sequence);
  const auto heard = heard_.find(sequence);
  if (heard == heard_.end()) return;
  heard_count_ -= heard->second.size();
  for (const Heard& other : heard->second) compare(call, other.rank, other.descriptor);
  heard_.erase(heard);
}

void CallLog::on_call(std::uint32_t rank, std::uint64_t sequence, std::string_view descriptor) {
  if (sequence <= last_called_) {
    // One that is no longer kept was called long ago by both: what still comes of it is late credit.
    const Call& call = calls_[sequence % kKept];
    if (call.sequence == sequence) compare(call, rank, descriptor);
    return;
  }
  if (heard_count_ >= kMaxHeard) return;
  std::vector<Heard>& others = heard_[sequence];
  for (const Heard& other : others)
    if (other.rank == rank) return;
  others.push_back({rank, std::string(descriptor)});
  ++heard_count_;
}

void CallLog::compare(const Call& mine, std::uint32_t rank, std::string_view theirs) {
  if (theirs == mine.descriptor) return;
  on_mismatch_(invalid_argument("{}: {} {}", mine.what, name_of_(rank), mine.describe(theirs)));
}

}  // namespace isthmus
