#include "tests/support/schedule_memory.h"

#include <algorithm>

namespace isthmus::testing {
namespace {

constexpr std::byte kUnwritten{0xcd};

std::size_t operand_bytes(const Schedule& schedule, const Step& step, bool wide) {
  if (step.kind == StepKind::kCopy) return step.bytes;
  return step.count * (wide ? sizeof(float) : dtype_size_bytes(schedule.type));
}

std::size_t target_bytes(const Schedule& schedule, const Step& step) {
  const bool computes = step.kind == StepKind::kReduce || step.kind == StepKind::kScale;
  return computes ? operand_bytes(schedule, step, step.wide) : step.bytes;
}

struct Touch {
  Region region;
  std::size_t bytes;
  bool write;
};

std::vector<Touch> touches_of(const Schedule& schedule, const Step& step) {
  std::vector<Touch> touches = {{step.region, target_bytes(schedule, step), step.kind != StepKind::kSend}};
  for (const ReduceOperand& operand : schedule.operands_of(step)) {
    touches.push_back({operand.region, operand_bytes(schedule, step, operand.wide), false});
  }
  return touches;
}

std::size_t space_bytes(const Schedule& schedule, Space space, const BufferLayout& layout) {
  switch (space) {
    case Space::kInput: return layout.input_bytes;
    case Space::kOutput: return layout.output_bytes;
    case Space::kScratch: return schedule.scratch_bytes;
  }
  return 0;
}

}  // namespace

ScheduleMemory::ScheduleMemory(const BufferLayout& layout, std::size_t scratch_bytes)
    : layout_(layout),
      caller_(std::max(layout.input_begin + layout.input_bytes, layout.output_begin + layout.output_bytes)),
      scratch_(scratch_bytes, kUnwritten) {}

std::span<std::byte> ScheduleMemory::at(const Region& region, std::size_t bytes) {
  switch (region.space) {
    case Space::kInput: return input().subspan(region.offset_bytes, bytes);
    case Space::kOutput: return output().subspan(region.offset_bytes, bytes);
    case Space::kScratch: return std::span(scratch_).subspan(region.offset_bytes, bytes);
  }
  return {};
}

std::vector<Access> accesses_of(const Schedule& schedule, const Step& step, const BufferLayout& layout) {
  std::vector<Access> accesses;
  for (const Touch& touch : touches_of(schedule, step)) {
    std::size_t begin = touch.region.offset_bytes;
    if (touch.region.space == Space::kInput) begin += layout.input_begin;
    if (touch.region.space == Space::kOutput) begin += layout.output_begin;
    accesses.push_back({touch.region.space == Space::kScratch, touch.write, begin, begin + touch.bytes});
  }
  return accesses;
}

bool is_in_bounds(const Schedule& schedule, const Step& step, const BufferLayout& layout) {
  for (const Touch& touch : touches_of(schedule, step)) {
    const std::size_t limit = space_bytes(schedule, touch.region.space, layout);
    if (touch.region.offset_bytes > limit || touch.bytes > limit - touch.region.offset_bytes) return false;
  }
  return true;
}

}  // namespace isthmus::testing
