// Communicators made of some ranks of another, by these alone.
#include <algorithm>

#include "collectives/communicator.h"
#include "collectives/derive_id.h"
#include "collectives/schedule/point_to_point.h"

namespace isthmus {
namespace {

constexpr std::uint32_t kSubsetTag = kFirstReservedTag;

Status check_members(std::span<const int> ranks, int own_rank, int size) {
  if (ranks.size() > static_cast<std::size_t>(size))
    return invalid_argument("subset: a list of {} ranks, of the {} that there are", ranks.size(), size);
  std::vector<int> sorted(ranks.begin(), ranks.end());
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    ISTHMUS_RETURN_IF_ERROR(check_rank("subset", "member", sorted[i], size));
    if (i > 0 && sorted[i] == sorted[i - 1])
      return invalid_argument("subset: rank {} is in the list more than once", sorted[i]);
  }
  if (!std::binary_search(sorted.begin(), sorted.end(), own_rank))
    return invalid_argument("subset: this rank, {}, is not in the list; only members call it", own_rank);
  return Status();
}

}  // namespace

// Every member exchanges an empty message that describes its list with the first of the list: where lists differ, a
// receive fails and names both.
Status Communicator::agree_on_subset(std::span<const int> ranks, const CallOptions& options) {
  const std::vector<std::size_t> list(ranks.begin(), ranks.end());
  Launch launched;
  launched.words = "subset";
  launched.descriptor.kind = OperationKind::kSubset;
  launched.descriptor.set_counts(list);
  launched.descriptor.count = list.size();
  launched.is_message = true;
  launched.tag = kSubsetTag;
  std::vector<Launch> launches;
  for (const int peer : ranks) {
    if (peer == rank_ || (rank_ != ranks.front() && peer != ranks.front())) continue;
    launched.sender = rank_;
    launched.receiver = peer;
    launched.schedule = std::make_shared<Schedule>(build_send(peer, 0));
    launches.push_back(launched);
    std::swap(launched.sender, launched.receiver);
    launched.schedule = std::make_shared<Schedule>(build_receive(peer, 0));
    launches.push_back(launched);
  }
  ISTHMUS_ASSIGN_OR_RETURN(const std::shared_ptr<Work> work,
                           launch_together(fmt::format("subset of {} ranks", ranks.size()), launches, options));
  return work->wait(Duration(-1));
}

Result<std::unique_ptr<Communicator>> Communicator::subset(std::span<const int> ranks,
                                                           const CommunicatorOptions& options) {
  ISTHMUS_RETURN_IF_ERROR(check_call("subset", 0, DataType::kUInt8, 1));
  ISTHMUS_RETURN_IF_ERROR(check_members(ranks, rank_, size()));
  CallOptions limits;
  limits.timeout = options.connect_timeout;
  ISTHMUS_RETURN_IF_ERROR(agree_on_subset(ranks, limits));
  std::uint64_t number, id = table_.id;
  {
    std::lock_guard lock(order_mutex_);
    number = ++next_subset_[{ranks.begin(), ranks.end()}];
  }
  // Splits count from 1 in the low half; subsets have a half of their own.
  for (const int rank : ranks) id = derive_id(id, (std::uint64_t{1} << 31) + number, static_cast<std::uint64_t>(rank));
  return join_members(ranks, id, options);
}

}  // namespace isthmus
