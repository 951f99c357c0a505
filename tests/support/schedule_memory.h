// The buffers of one rank for which a schedule is checked or run, and where a step touches them.
//
// Threads: one thread at a time.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "runtime/engine/schedule.h"

namespace isthmus::testing {

// Input and output as ranges of one piece of memory, so that an operation in place is just two ranges that meet.
struct BufferLayout {
  std::size_t input_begin = 0, input_bytes = 0;
  std::size_t output_begin = 0, output_bytes = 0;

  static BufferLayout apart(std::size_t input_bytes, std::size_t output_bytes) {
    return {0, input_bytes, input_bytes, output_bytes};
  }
  static BufferLayout in_place(std::size_t bytes) { return {0, bytes, 0, bytes}; }
};

class ScheduleMemory {
 public:
  // The caller's memory is zero, scratch is filled with what was not written by anyone.
  ScheduleMemory(const BufferLayout& layout, std::size_t scratch_bytes);

  std::span<std::byte> input() { return std::span(caller_).subspan(layout_.input_begin, layout_.input_bytes); }
  std::span<std::byte> output() { return std::span(caller_).subspan(layout_.output_begin, layout_.output_bytes); }
  std::span<std::byte> at(const Region& region, std::size_t bytes);

 private:
  BufferLayout layout_;
  std::vector<std::byte> caller_, scratch_;
};

// A range that a step reads or writes. Bytes of the caller's memory and of scratch are different address spaces.
struct Access {
  bool scratch = false;
  bool write = false;
  std::size_t begin = 0, end = 0;

  bool conflicts_with(const Access& other) const {
    return scratch == other.scratch && (write || other.write) && begin < other.end && other.begin < end;
  }
};

std::vector<Access> accesses_of(const Schedule& schedule, const Step& step, const BufferLayout& layout);

// Whether every range that the step touches lies in its buffer.
bool is_in_bounds(const Schedule& schedule, const Step& step, const BufferLayout& layout);

}  // namespace isthmus::testing
