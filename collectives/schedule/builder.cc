#include "collectives/schedule/builder.h"

#include <utility>

namespace isthmus {
namespace {

constexpr std::size_t kScratchAlignmentBytes = 64;

}  // namespace

ScheduleBuilder::ScheduleBuilder(DataType type, ReduceOp op) {
  schedule_.type = type;
  schedule_.op = combining_op(op);
}

void ScheduleBuilder::reserve(std::size_t steps, std::size_t operands, std::size_t dependencies) {
  schedule_.steps.reserve(steps);
  schedule_.operands.reserve(operands);
  schedule_.dependencies.reserve(dependencies);
}

StepIndex ScheduleBuilder::send(int peer, std::uint32_t round, Region source, std::size_t bytes,
                                std::span<const StepIndex> after) {
  return append({.kind = StepKind::kSend,
                 .peer = static_cast<std::uint32_t>(peer),
                 .round = round,
                 .region = source,
                 .bytes = bytes},
                after);
}

StepIndex ScheduleBuilder::receive(int peer, std::uint32_t round, Region target, std::size_t bytes,
                                   std::span<const StepIndex> after) {
  return append({.kind = StepKind::kReceive,
                 .peer = static_cast<std::uint32_t>(peer),
                 .round = round,
                 .region = target,
                 .bytes = bytes},
                after);
}

StepIndex ScheduleBuilder::copy(Region target, Region source, std::size_t bytes, std::span<const StepIndex> after) {
  const auto first = static_cast<std::uint32_t>(schedule_.operands.size());
  schedule_.operands.push_back({.region = source});
  return append({.kind = StepKind::kCopy, .region = target, .bytes = bytes, .first_operand = first, .operand_count = 1},
                after);
}

StepIndex ScheduleBuilder::reduce(Region target, const Finish& finish, std::span<const ReduceOperand> operands,
                                  std::size_t count, std::span<const StepIndex> after) {
  const auto first = static_cast<std::uint32_t>(schedule_.operands.size());
  schedule_.operands.insert(schedule_.operands.end(), operands.begin(), operands.end());
  return append({.kind = StepKind::kReduce,
                 .region = target,
                 .count = count,
                 .wide = finish.wide,
                 .exponent = finish.exponent,
                 .divisor = finish.divisor,
                 .first_operand = first,
                 .operand_count = static_cast<std::uint32_t>(operands.size())},
                after);
}

Region ScheduleBuilder::allocate_scratch(std::size_t bytes) {
  const Region region{Space::kScratch, schedule_.scratch_bytes};
  schedule_.scratch_bytes += (bytes + kScratchAlignmentBytes - 1) / kScratchAlignmentBytes * kScratchAlignmentBytes;
  return region;
}

Schedule ScheduleBuilder::take() { return std::move(schedule_); }

StepIndex ScheduleBuilder::append(Step step, std::span<const StepIndex> after) {
  step.first_dependency = static_cast<std::uint32_t>(schedule_.dependencies.size());
  for (const StepIndex dependency : after) {
    if (dependency != kNoStep) schedule_.dependencies.push_back(dependency);
  }
  step.dependency_count = static_cast<std::uint32_t>(schedule_.dependencies.size()) - step.first_dependency;
  schedule_.steps.push_back(step);
  return static_cast<StepIndex>(schedule_.steps.size() - 1);
}

}  // namespace isthmus
