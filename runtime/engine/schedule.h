// Schedule: what one rank does in one collective, as steps with dependencies. Pure data: collectives/schedule computes
// it from (rank, topology, count) alone, the engine runs it.
//
// Threads: values; immutable once built, so one schedule may serve many operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/base/dtype.h"

namespace isthmus {

enum class Space : std::uint8_t {
  kInput,    // the caller's input; never written unless it is the output too
  kOutput,   // the caller's output; may be the same memory as the input (in place)
  kScratch,  // the operation's own, Schedule::scratch_bytes long
};

struct Region {
  Space space = Space::kInput;
  std::size_t offset_bytes = 0;
};

enum class StepKind : std::uint8_t { kSend, kReceive, kReduce, kCopy, kScale };

// An operand of a kReduce step. Halves may travel between steps as fp32 partials (`wide`), and the partials of an AVG
// of halves are scaled by a power of two so that none overflows: the value is multiplied by 2^exponent when loaded.
struct ReduceOperand {
  Region region;
  bool wide = false;
  std::int8_t exponent = 0;
};

struct Step {
  StepKind kind = StepKind::kCopy;
  std::uint32_t peer = 0;   // kSend, kReceive: rank in the communicator
  std::uint32_t round = 0;  // kSend, kReceive: unique per (sender, receiver) in the operation
  Region region;            // kSend: what is sent; kReceive: where it is put; kReduce, kCopy, kScale: the target
  std::size_t bytes = 0;    // kSend, kReceive, kCopy
  std::size_t count = 0;    // kReduce, kScale: elements

  // kReduce: target = round(2^exponent * ((sum of operands, in this order) / divisor)), accumulated in fp32 for halves.
  // kCopy, kScale: exactly one operand, which a kScale multiplies by the operation's factor (runtime/device/scale.h).
  // The target may be one of the operands (of a copy: nothing is to be done then).
  bool wide = false;
  std::int8_t exponent = 0;
  std::uint32_t divisor = 1;
  std::uint32_t first_operand = 0, operand_count = 0;  // in Schedule::operands

  std::uint32_t first_dependency = 0, dependency_count = 0;  // in Schedule::dependencies
};

struct Schedule {
  DataType type = DataType::kUInt8;
  ReduceOp op = ReduceOp::kSum;
  std::vector<Step> steps;
  std::vector<ReduceOperand> operands;
  // Indexes of steps that must be complete before the step starts. A kSend is complete when its source may be
  // overwritten, a kReceive when the target is whole.
  std::vector<std::uint32_t> dependencies;
  std::size_t scratch_bytes = 0;

  std::span<const ReduceOperand> operands_of(const Step& step) const {
    return std::span(operands).subspan(step.first_operand, step.operand_count);
  }
  std::span<const std::uint32_t> dependencies_of(const Step& step) const {
    return std::span(dependencies).subspan(step.first_dependency, step.dependency_count);
  }
};

}  // namespace isthmus
