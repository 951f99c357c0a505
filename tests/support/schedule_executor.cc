#include "tests/support/schedule_executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/device/reduce.h"
#include "runtime/device/scale.h"

namespace isthmus::testing {
namespace {

constexpr std::byte kGarbage{0xa5};

}  // namespace

ScheduleExecutor::ScheduleExecutor(const std::vector<Schedule>& schedules, std::vector<ScheduleMemory>* memories,
                                   SendMode mode, std::uint64_t seed)
    : schedules_(schedules), memories_(*memories), mode_(mode), random_(seed) {
  for (const Schedule& schedule : schedules) states_.emplace_back(schedule.steps.size(), State::kWaiting);
}

std::string ScheduleExecutor::run() {
  std::vector<Place> open;
  for (std::size_t rank = 0; rank < schedules_.size(); ++rank) {
    for (std::size_t step = 0; step < schedules_[rank].steps.size(); ++step) open.push_back({rank, step});
  }
  // Passes over the open steps, each in another order, until one changes nothing.
  bool progress = true;
  while (progress && !open.empty()) {
    progress = false;
    std::ranges::shuffle(open, random_);
    for (const Place& place : open) {
      if (random_() % 4 != 0) progress = advance(place) || progress;
    }
    if (!progress) {  // nobody was skipped by chance this time
      for (const Place& place : open) progress = advance(place) || progress;
    }
    std::erase_if(open, [this](const Place& place) { return state_at(place) == State::kComplete; });
  }
  if (open.empty()) return "";
  return fmt::format("{} steps are stuck, among them step {} of rank {}", open.size(), open[0].step, open[0].rank);
}

bool ScheduleExecutor::is_complete(std::size_t rank) const {
  return std::ranges::all_of(states_[rank], [](State state) { return state == State::kComplete; });
}

bool ScheduleExecutor::advance(const Place& place) {
  switch (state_at(place)) {
    case State::kWaiting: return is_ready(place) && start(place);
    case State::kStarted: return step_at(place).kind == StepKind::kSend ? finish_send(place) : finish_receive(place);
    case State::kComplete: return false;
  }
  return false;
}

bool ScheduleExecutor::is_ready(const Place& place) const {
  const auto dependencies = schedules_[place.rank].dependencies_of(step_at(place));
  return std::ranges::all_of(
      dependencies, [&](std::uint32_t dependency) { return states_[place.rank][dependency] == State::kComplete; });
}

bool ScheduleExecutor::start(const Place& place) {
  const Step& step = step_at(place);
  ScheduleMemory& memory = memories_[place.rank];
  state_at(place) = State::kStarted;
  switch (step.kind) {
    case StepKind::kSend: return true;
    case StepKind::kReceive:
      std::ranges::fill(memory.at(step.region, step.bytes), kGarbage);
      receive_started_[transfer_of(place)] = true;
      return true;
    case StepKind::kReduce: reduce_step(place.rank, step); break;
    case StepKind::kScale: scale_step(place.rank, step); break;
    case StepKind::kCopy: {
      const Region source = schedules_[place.rank].operands_of(step).front().region;
      if (step.bytes > 0) {
        std::memmove(memory.at(step.region, step.bytes).data(), memory.at(source, step.bytes).data(), step.bytes);
      }
    }
  }
  state_at(place) = State::kComplete;
  return true;
}

bool ScheduleExecutor::finish_send(const Place& place) {
  const Transfer transfer = transfer_of(place);
  if (mode_ == SendMode::kRendezvous && !receive_started_.contains(transfer)) return false;
  const Step& step = step_at(place);
  const auto source = memories_[place.rank].at(step.region, step.bytes);
  in_flight_[transfer].assign(source.begin(), source.end());
  state_at(place) = State::kComplete;
  return true;
}

bool ScheduleExecutor::finish_receive(const Place& place) {
  const auto data = in_flight_.find(transfer_of(place));
  if (data == in_flight_.end()) return false;
  const Step& step = step_at(place);
  std::ranges::copy(data->second, memories_[place.rank].at(step.region, step.bytes).begin());
  in_flight_.erase(data);
  state_at(place) = State::kComplete;
  return true;
}

void ScheduleExecutor::reduce_step(std::size_t rank, const Step& step) {
  const Schedule& schedule = schedules_[rank];
  const auto bytes = [&](bool wide) { return step.count * (wide ? sizeof(float) : dtype_size_bytes(schedule.type)); };
  std::vector<ReduceSource> sources;
  for (const ReduceOperand& operand : schedule.operands_of(step)) {
    sources.push_back({memories_[rank].at(operand.region, bytes(operand.wide)).data(), operand.wide, operand.exponent});
  }
  const ReduceTarget target{memories_[rank].at(step.region, bytes(step.wide)).data(), step.wide, step.exponent,
                            step.divisor};
  reduce(schedule.type, schedule.op, target, sources, step.count);
}

void ScheduleExecutor::scale_step(std::size_t rank, const Step& step) {
  const Schedule& schedule = schedules_[rank];
  const std::size_t bytes = step.count * dtype_size_bytes(schedule.type);
  const std::byte* from = memories_[rank].at(schedule.operands_of(step).front().region, bytes).data();
  scale(schedule.type, factor_of(rank), from, memories_[rank].at(step.region, bytes).data(), step.count);
}

ScheduleExecutor::Transfer ScheduleExecutor::transfer_of(const Place& place) const {
  const Step& step = step_at(place);
  const auto self = static_cast<std::uint32_t>(place.rank);
  return step.kind == StepKind::kSend ? Transfer{self, step.peer, step.round} : Transfer{step.peer, self, step.round};
}

}  // namespace isthmus::testing
