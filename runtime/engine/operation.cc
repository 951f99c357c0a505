#include "runtime/engine/operation.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/device/reduce.h"
#include "runtime/device/scale.h"
#include "runtime/engine/worker_pool.h"

namespace isthmus {
namespace {

// A reduction of at most this many bytes is done on the progress thread: it takes some 10 us, less than a hand-over.
constexpr std::size_t kInlineReduceBytes = 16 * 1024;
// More operands than this (ranks of a site, or sites) cost an allocation.
constexpr std::size_t kOperandsOnStack = 16;

}  // namespace

Operation::Operation(OperationRequest request, OperationHost* host)
    : request_(std::move(request)), host_(host), schedule_(*request_.schedule) {}

// ---------------------------------------------------------------------------------------------------- start

void Operation::start() {
  started_at_ = last_advance_ = host_->clock().now();
  const std::size_t steps = schedule_.steps.size();
  steps_left_ = steps;
  if (schedule_.scratch_bytes > 0) scratch_ = std::make_unique_for_overwrite<std::byte[]>(schedule_.scratch_bytes);
  is_complete_.assign(steps, false);
  ready_.reserve(steps);
  prepare_dependents();
  open_channels();
  if (ended_) return;
  for (std::uint32_t i = 0; i < steps; ++i)
    if (blockers_[i] == 0) ready_.push_back(i);
  run_ready();
  if (steps_left_ == 0) finish(Status());
}

// The schedule says what each step waits for; running needs what waits for each step.
void Operation::prepare_dependents() {
  const std::size_t steps = schedule_.steps.size();
  blockers_.resize(steps);
  first_dependent_.assign(steps + 1, 0);
  dependents_.resize(schedule_.dependencies.size());
  for (std::uint32_t dependency : schedule_.dependencies) ++first_dependent_[dependency + 1];
  for (std::size_t i = 0; i < steps; ++i) first_dependent_[i + 1] += first_dependent_[i];
  std::vector<std::uint32_t> next(first_dependent_.begin(), first_dependent_.end() - 1);
  for (std::uint32_t i = 0; i < steps; ++i) {
    const auto dependencies = schedule_.dependencies_of(schedule_.steps[i]);
    blockers_[i] = static_cast<std::uint32_t>(dependencies.size());
    for (std::uint32_t dependency : dependencies) dependents_[next[dependency]++] = i;
  }
}

void Operation::open_channels() {
  for (const Step& step : schedule_.steps) {
    if (step.kind != StepKind::kSend && step.kind != StepKind::kReceive) continue;
    auto side = std::find_if(sides_.begin(), sides_.end(), [&](const auto& s) { return s->rank == step.peer; });
    if (side == sides_.end()) {
      sides_.push_back(std::make_unique<Side>());
      side = sides_.end() - 1;
      (*side)->operation = this;
      (*side)->rank = step.peer;
    }
    if (step.kind != StepKind::kReceive) continue;
    (*side)->receives = true;
    (*side)->receive_bytes += step.bytes;
  }
  for (const auto& side : sides_) {
    Channel* channel = host_->channel(side->rank);
    const std::uint64_t credit = side->receives ? std::max<std::uint64_t>(1, side->receive_bytes) : 0;
    channel->open(request_.key, request_.descriptor, credit, side.get());
  }
}

// ---------------------------------------------------------------------------------------------------- steps

void Operation::complete(std::uint32_t step) {
  if (ended_ || is_complete_[step]) return;
  is_complete_[step] = true;
  --steps_left_;
  for (std::uint32_t i = first_dependent_[step]; i < first_dependent_[step + 1]; ++i)
    if (--blockers_[dependents_[i]] == 0) ready_.push_back(dependents_[i]);
  if (is_running_ready_) return;  // the outer call goes on
  run_ready();
  if (steps_left_ == 0 && !ended_) finish(Status());
}

// A loop, not a recursion: a step may complete inside its own start.
void Operation::run_ready() {
  is_running_ready_ = true;
  while (ready_head_ < ready_.size() && !ended_) run_step(ready_[ready_head_++]);
  ready_.clear();
  ready_head_ = 0;
  is_running_ready_ = false;
}

std::byte* Operation::address(const Region& region) {
  switch (region.space) {
    case Space::kInput:
      return const_cast<std::byte*>(static_cast<const std::byte*>(request_.input)) + region.offset_bytes;
    case Space::kOutput: return static_cast<std::byte*>(request_.output) + region.offset_bytes;
    case Space::kScratch: return scratch_.get() + region.offset_bytes;
  }
  return nullptr;
}

void Operation::run_step(std::uint32_t index) {
  const Step& step = schedule_.steps[index];
  switch (step.kind) {
    case StepKind::kSend:
      host_->channel(step.peer)->send(request_.key, step.round, {address(step.region), step.bytes}, index);
      break;
    case StepKind::kReceive:
      host_->channel(step.peer)->receive(request_.key, step.round, {address(step.region), step.bytes}, index);
      break;
    case StepKind::kCopy: {
      const std::byte* from = address(schedule_.operands_of(step).front().region);
      if (from != address(step.region) && step.bytes > 0) std::memmove(address(step.region), from, step.bytes);
      complete(index);
      break;
    }
    case StepKind::kReduce:
    case StepKind::kScale: run_compute(index); break;
  }
}

void Operation::compute(const Step& step) {
  if (step.kind == StepKind::kReduce) return reduce_step(step);
  const std::byte* from = address(schedule_.operands_of(step).front().region);
  scale(schedule_.type, request_.factor, from, address(step.region), step.count);
}

void Operation::reduce_step(const Step& step) {
  std::array<ReduceSource, kOperandsOnStack> few;
  std::vector<ReduceSource> many(step.operand_count > few.size() ? step.operand_count : 0);
  ReduceSource* sources = many.empty() ? few.data() : many.data();
  std::size_t count = 0;
  for (const ReduceOperand& operand : schedule_.operands_of(step))
    sources[count++] = {address(operand.region), operand.wide, operand.exponent};
  const ReduceTarget target{address(step.region), step.wide, step.exponent, step.divisor};
  reduce(schedule_.type, combining_op(schedule_.op), target, {sources, count}, step.count);
}

void Operation::run_compute(std::uint32_t index) {
  const Step& step = schedule_.steps[index];
  if (step.count * dtype_size_bytes(schedule_.type) * step.operand_count <= kInlineReduceBytes) {
    compute(step);
    complete(index);
    return;
  }
  ++running_jobs_;
  host_->workers().submit({&Operation::compute_job, this, index});
}

void Operation::compute_job(void* context, std::uint32_t index) {
  auto* operation = static_cast<Operation*>(context);
  operation->compute(operation->schedule_.steps[index]);
  operation->host_->post([operation, index] { operation->compute_done(index); });
}

void Operation::compute_done(std::uint32_t index) {
  --running_jobs_;
  if (ended_) {
    if (quiet()) host_->operation_done(request_.key);
    return;
  }
  last_advance_ = host_->clock().now();
  complete(index);
}

// ---------------------------------------------------------------------------------------------------- end

void Operation::mismatch(std::uint32_t rank, std::string_view theirs) {
  if (ended_) return;
  differ(invalid_argument("{}: {} {}", request_.what, host_->member_name(rank), request_.describe(theirs)));
}

void Operation::wrong_size(std::uint32_t index, std::uint64_t bytes) {
  if (ended_) return;
  const Step& step = schedule_.steps[index];
  differ(invalid_argument("{}: {} sends {} elements ({} bytes), this rank takes {} ({} bytes) from it", request_.what,
                          host_->member_name(step.peer), bytes / request_.element_bytes, bytes,
                          step.bytes / request_.element_bytes, step.bytes));
}

// A message that is not what was expected fails its receive alone; a collective fails on every rank.
void Operation::differ(const Status& why) {
  if (!is_message()) return host_->operation_failed(request_.key, why);
  ended_ = true;
  status_ = why;
  for (const auto& side : sides_) host_->channel(side->rank)->refuse(request_.key);
  host_->operation_done(request_.key);
}

void Operation::close_channels() {
  for (const auto& side : sides_) host_->channel(side->rank)->close(request_.key);
}

void Operation::finish(const Status& status) {
  ended_ = true;
  status_ = status;
  close_channels();
  if (quiet()) host_->operation_done(request_.key);
}

void Operation::fail(const Status& why) {
  if (!ended_) finish(why);
}

void Operation::report() {
  if (reported_) return;
  reported_ = true;
  request_.on_done(status_);
}

std::string Operation::missing_peers() const {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t i = 0; i < schedule_.steps.size(); ++i) {
    const Step& step = schedule_.steps[i];
    const bool waits = !is_complete_[i] && (step.kind == StepKind::kReceive || step.kind == StepKind::kSend);
    if (waits && std::find(ranks.begin(), ranks.end(), step.peer) == ranks.end()) ranks.push_back(step.peer);
  }
  std::sort(ranks.begin(), ranks.end());
  std::string text;
  for (std::uint32_t rank : ranks) text += (text.empty() ? "" : ", ") + host_->member_name(rank);
  return text.empty() ? "nobody" : text;
}

Status Operation::timeout_status() const {
  const TimePoint now = host_->clock().now();
  return deadline_exceeded("{}: no payload moved for {:.1f} s (limit {:.1f} s, {:.1f} s since the start); waits for {}",
                           request_.what, to_seconds(now - last_advance_), to_seconds(request_.timeout),
                           to_seconds(now - started_at_), missing_peers());
}

bool Operation::waits_for(std::uint32_t rank) const {
  for (std::uint32_t i = 0; i < schedule_.steps.size(); ++i) {
    const Step& step = schedule_.steps[i];
    const bool moves = step.kind == StepKind::kReceive || step.kind == StepKind::kSend;
    if (moves && step.peer == rank && !is_complete_[i] && blockers_[i] == 0) return true;
  }
  return false;
}

Status Operation::left_status(std::uint32_t rank) const {
  return unavailable("{}: {} has left the group; waits for {}", request_.what, host_->member_name(rank),
                     missing_peers());
}

}  // namespace isthmus
