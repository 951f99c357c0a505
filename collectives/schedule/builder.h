// ScheduleBuilder: appends steps to a Schedule and hands out scratch.
//
// Threads: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "runtime/engine/schedule.h"

namespace isthmus {

// Index of a step; kNoStep as a dependency means none.
using StepIndex = std::uint32_t;
inline constexpr StepIndex kNoStep = 0xffff'ffffu;

// What a chunk crosses, in order. Chunk numbers are unique and a chunk crosses each of these at most once per pair of
// ranks and direction, so this pair makes a round.
enum class Phase : std::uint32_t {
  kToHandler = 0,    // site tier, inputs to the rank that handles the chunk
  kPartial = 1,      // WAN tier, partials
  kFinal = 2,        // WAN tier, finished bytes
  kFromHandler = 3,  // site tier, finished bytes to the mates
};
constexpr std::uint32_t round_of(std::uint32_t chunk_number, Phase phase) {
  return chunk_number * 4 + static_cast<std::uint32_t>(phase);
}

// How a reduction writes its result; see Step.
struct Finish {
  bool wide = false;
  std::int8_t exponent = 0;
  std::uint32_t divisor = 1;
};

class ScheduleBuilder {
 public:
  // AVG becomes the SUM that it is: the divisor is in the steps. So does PREMUL_SUM (premultiply.h).
  ScheduleBuilder(DataType type, ReduceOp op);

  void reserve(std::size_t steps, std::size_t operands, std::size_t dependencies);

  StepIndex send(int peer, std::uint32_t round, Region source, std::size_t bytes, std::span<const StepIndex> after);
  StepIndex receive(int peer, std::uint32_t round, Region target, std::size_t bytes, std::span<const StepIndex> after);
  StepIndex copy(Region target, Region source, std::size_t bytes, std::span<const StepIndex> after);
  StepIndex reduce(Region target, const Finish& finish, std::span<const ReduceOperand> operands, std::size_t count,
                   std::span<const StepIndex> after);

  // Scratch of its own, aligned to a cache line; never handed out twice.
  Region allocate_scratch(std::size_t bytes);

  Schedule take();  // once

 private:
  StepIndex append(Step step, std::span<const StepIndex> after);

  Schedule schedule_;
};

// One dependency where a span of them is asked for.
class After {
 public:
  After(StepIndex step) : step_(step) {}
  operator std::span<const StepIndex>() const { return {&step_, 1}; }

 private:
  StepIndex step_;
};

}  // namespace isthmus
