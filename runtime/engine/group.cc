#include "runtime/engine/group.h"

#include <algorithm>

#include "runtime/base/log.h"

namespace isthmus {
namespace {

// Deadlines and channels are looked at this often, not at every turn of the progress loop.
constexpr Duration kCheckInterval = std::chrono::milliseconds(20);
// After a member's goodbye everything that it sent is here; this is time to work on it. An operation that waits only
// for others goes on: the member had done its part.
constexpr Duration kAfterGoodbye = std::chrono::seconds(1);

std::uint32_t own_rank_of(const GroupConfig& config) {
  const auto own = std::find_if(config.members.begin(), config.members.end(),
                                [](const GroupMember& member) { return member.channel == nullptr; });
  return static_cast<std::uint32_t>(own - config.members.begin());
}

}  // namespace

Group::Group(GroupConfig config, const Clock* clock, WorkerPool* workers,
             std::function<void(std::function<void()>)> post, std::function<void(const Status&)> tell_others,
             std::function<void(const Status&)> on_broken, Counter* completed, Counter* failed)
    : config_(std::move(config)),
      clock_(clock),
      workers_(workers),
      post_(std::move(post)),
      tell_others_(std::move(tell_others)),
      on_broken_(std::move(on_broken)),
      completed_(completed),
      failed_(failed),
      calls_([this](std::uint32_t rank) { return config_.members[rank].name; },
             [this](const Status& why) { operation_failed({}, why); }),
      receives_(own_rank_of(config_), static_cast<std::uint32_t>(config_.members.size()),
                [this](std::uint32_t sender, const OperationKey& key) {
                  return config_.members[sender].channel->arrival(key);
                }),
      left_at_(config_.members.size()) {
  for (std::uint32_t rank = 0; rank < config_.members.size(); ++rank)
    if (Channel* channel = config_.members[rank].channel) channel->watch(config_.id, rank, &calls_);
}

void Group::submit(OperationRequest request) {
  if (!status_.ok()) {
    failed_->add(1);
    return request.on_done(status_.with_context(request.what));
  }
  if (request.is_receive) {
    receives_.post(std::move(request), clock_->now());
    start_matched();
    return;
  }
  if (request.key.tag == 0) calls_.called(request.key.sequence, request.descriptor, request.what, request.describe);
  if (request.starts_after && is_in_flight(*request.starts_after)) {
    wait_to_start(std::move(request));
    return;
  }
  start(std::move(request));
}

void Group::wait_to_start(OperationRequest request) {
  for (const Step& step : request.schedule->steps)
    if (step.kind == StepKind::kSend || step.kind == StepKind::kReceive) channel(step.peer)->expect(request.key);
  const OperationKey after = *request.starts_after;
  waiting_.emplace(after, std::move(request));
}

// Ended operations are still here until they are reaped; those that wait themselves are known by their own key.
bool Group::is_in_flight(const OperationKey& key) const {
  return operations_.contains(key) ||
         std::ranges::any_of(waiting_, [&](const auto& entry) { return entry.second.key == key; });
}

void Group::start_next(const OperationKey& ended) {
  while (true) {
    const auto found = waiting_.find(ended);
    if (found == waiting_.end()) return;
    OperationRequest request = std::move(found->second);
    waiting_.erase(found);
    start(std::move(request));
  }
}

bool Group::start_matched() {
  bool any = false;
  while (std::optional<OperationRequest> request = receives_.next_matched()) {
    start(std::move(*request));
    any = true;
  }
  return any;
}

void Group::start(OperationRequest request) {
  const OperationKey key = request.key;
  auto& slot = operations_[key];
  if (slot) {
    failed_->add(1);
    return request.on_done(internal_error("{}: an operation of this name is in flight already", request.what));
  }
  slot = std::make_unique<Operation>(std::move(request), this);
  slot->start();
}

void Group::operation_failed(const OperationKey&, const Status& why) {
  if (failure_.ok()) failure_ = why;
}

void Group::break_with(const Status& why, bool tell_others) {
  if (!status_.ok()) return;
  status_ = why;
  log_info("group \"{}\" is broken: {}", config_.name, why.to_string());
  fail_all(why);
  for (const GroupMember& member : config_.members)
    if (member.channel != nullptr) member.channel->forget(config_.id);
  on_broken_(why);
  if (tell_others) tell_others_(why);
}

void Group::abandon(const Status& why) {
  if (status_.ok()) status_ = why;
  fail_all(why);
}

void Group::fail_all(const Status& why) {
  for (auto& [key, operation] : operations_) operation->fail(why);
  std::vector<OperationRequest> never_started = receives_.take_all();
  for (auto& [after, request] : std::exchange(waiting_, {})) never_started.push_back(std::move(request));
  for (const OperationRequest& request : never_started) {
    failed_->add(1);
    request.on_done(why.with_context(request.what));
  }
}

void Group::member_dead(ProcessId process, const Status& why) {
  for (std::size_t rank = 0; rank < config_.members.size(); ++rank) {
    if (config_.members[rank].process != process) continue;
    left_at_[rank] = clock_->now();  // nobody is there to take what is still to be sent
    break_with(unavailable("{} is dead: {}", config_.members[rank].name, why.message()), false);
  }
}

void Group::member_left(ProcessId process) {
  for (std::uint32_t rank = 0; rank < config_.members.size(); ++rank) {
    if (config_.members[rank].process == process && !left_at_[rank]) left_at_[rank] = clock_->now();
  }
}

bool Group::reap() {
  if (done_.empty()) return false;
  const std::vector<OperationKey> done = std::exchange(done_, {});
  for (const OperationKey& key : done) {
    const auto found = operations_.find(key);
    if (found == operations_.end() || !found->second->ended() || !found->second->quiet()) continue;
    const std::unique_ptr<Operation> operation = std::move(found->second);
    operations_.erase(found);
    (operation->succeeded() ? completed_ : failed_)->add(1);  // first: who waited for it finds it counted
    operation->report();
    start_next(key);
  }
  return true;
}

// The member which left while the operation waits for it, if any.
std::optional<std::uint32_t> Group::gone_for(const Operation& operation, TimePoint now) const {
  for (std::uint32_t rank = 0; rank < left_at_.size(); ++rank) {
    if (!left_at_[rank] || now < std::max(*left_at_[rank], operation.started_at()) + kAfterGoodbye) continue;
    if (operation.waits_for(rank)) return rank;
  }
  return std::nullopt;
}

void Group::check_operations(TimePoint now) {
  for (auto& [key, operation] : operations_) {
    if (operation->ended()) continue;
    if (const auto rank = gone_for(*operation, now)) return operation_failed(key, operation->left_status(*rank));
    if (now >= operation->deadline()) return operation_failed(key, operation->timeout_status());
  }
  const Status waiting = receives_.check(now, [this](std::uint32_t rank) { return left_at_[rank].has_value(); });
  if (!waiting.ok()) operation_failed({}, waiting);
}

void Group::check_channels() {
  if (idle()) return;
  for (std::uint32_t rank = 0; rank < config_.members.size(); ++rank) {
    Channel* channel = config_.members[rank].channel;
    if (channel == nullptr || left_at_[rank] || channel->status().ok()) continue;
    return operation_failed({}, channel->status());
  }
}

bool Group::tick(TimePoint now) {
  const bool matched = !receives_.empty() && start_matched();
  if (now >= check_at_) {
    check_at_ = now + kCheckInterval;
    check_operations(now);
    check_channels();
  }
  if (!failure_.ok()) {
    const Status why = std::exchange(failure_, Status());
    break_with(why, true);
  }
  return reap() || matched;
}

TimePoint Group::next_due() const { return idle() ? kNever : check_at_; }

bool Group::drained() const {
  for (std::uint32_t rank = 0; rank < config_.members.size(); ++rank) {
    const Channel* channel = config_.members[rank].channel;
    if (channel == nullptr || left_at_[rank] || !channel->status().ok()) continue;
    if (!channel->drained()) return false;
  }
  return true;
}

void Group::forget() {
  for (const GroupMember& member : config_.members)
    if (member.channel != nullptr) member.channel->forget(config_.id);
}

}  // namespace isthmus
