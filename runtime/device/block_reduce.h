// The loop that every reduction on the CPU runs: block by block, source by source, in a block of accumulators that stays
// in the L1 cache. Internal to runtime/device.
//
// Threads: any thread, on disjoint targets.
//
// Memory is read and written once, whatever the number of sources. A block of the target is written when all sources
// of the block were read, so the target may be one of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "runtime/device/reduce.h"

// The loops below carry no dependency from one element to the next, but the compiler cannot see that two pointers are
// either equal or apart.
#if defined(__clang__)
#define ISTHMUS_VECTORIZE _Pragma("clang loop vectorize(assume_safety)")
#else
#define ISTHMUS_VECTORIZE _Pragma("GCC ivdep")
#endif

namespace isthmus {

inline constexpr std::size_t kReduceBlockCount = 1024;

// A Format has
//   Accumulator                              what elements are while they are added
//   with_reader(source, begin, use)          calls use(read), read(i) being element begin + i as an Accumulator
//   with_writer(target, begin, use)          calls use(write), write(i, a) storing a as element begin + i
// and Combine is a function of two Accumulators.
template <typename Format, typename Combine>
void reduce_in_blocks(const Format& format, Combine combine, const ReduceTarget& target,
                      std::span<const ReduceSource> sources, std::size_t count) {
  using Accumulator = typename Format::Accumulator;
  alignas(64) Accumulator block[kReduceBlockCount];
  const ReduceSource& first = sources.front();
  const ReduceSource& last = sources.back();

  for (std::size_t begin = 0; begin < count; begin += kReduceBlockCount) {
    const std::size_t n = std::min(kReduceBlockCount, count - begin);
    if (sources.size() == 1) {
      format.with_reader(first, begin, [&](auto read) {
        format.with_writer(target, begin, [&](auto write) {
          ISTHMUS_VECTORIZE
          for (std::size_t i = 0; i < n; ++i) write(i, read(i));
        });
      });
      continue;
    }
    format.with_reader(first, begin, [&](auto read) {
      for (std::size_t i = 0; i < n; ++i) block[i] = read(i);
    });
    for (const ReduceSource& source : sources.subspan(1, sources.size() - 2)) {
      format.with_reader(source, begin, [&](auto read) {
        for (std::size_t i = 0; i < n; ++i) block[i] = combine(block[i], read(i));
      });
    }
    format.with_reader(last, begin, [&](auto read) {
      format.with_writer(target, begin, [&](auto write) {
        ISTHMUS_VECTORIZE
        for (std::size_t i = 0; i < n; ++i) write(i, combine(block[i], read(i)));
      });
    });
  }
}

}  // namespace isthmus
