// The loop that reduces types which are added as they are stored: block by block, up to four sources at a time in
// registers, and a block of accumulators in the L1 cache where there are more. Internal to runtime/device.
//
// Threads: any thread, on disjoint targets.
//
// Memory is read and written once, whatever the number of sources. A block of the target is written when all sources
// of the block were read, so the target may be one of them.
#pragma once

#include <algorithm>
#include <array>
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
inline constexpr std::size_t kMaxFusedSources = 4;

// write(i, inputs[0][i] combined with inputs[1][i], that with inputs[2][i], ...) for n elements.
template <typename Format, typename Combine, typename Write>
void fold(std::span<const typename Format::Element* const> inputs, Combine combine, Write write, std::size_t n) {
  const auto* a = inputs[0];
  const auto* b = inputs.size() > 1 ? inputs[1] : a;
  const auto* c = inputs.size() > 2 ? inputs[2] : a;
  const auto* d = inputs.size() > 3 ? inputs[3] : a;
  constexpr auto read = [](typename Format::Element element) { return Format::read(element); };
  switch (inputs.size()) {
    case 1:
      ISTHMUS_VECTORIZE
      for (std::size_t i = 0; i < n; ++i) write(i, read(a[i]));
      return;
    case 2:
      ISTHMUS_VECTORIZE
      for (std::size_t i = 0; i < n; ++i) write(i, combine(read(a[i]), read(b[i])));
      return;
    case 3:
      ISTHMUS_VECTORIZE
      for (std::size_t i = 0; i < n; ++i) write(i, combine(combine(read(a[i]), read(b[i])), read(c[i])));
      return;
    default:
      ISTHMUS_VECTORIZE
      for (std::size_t i = 0; i < n; ++i) {
        write(i, combine(combine(combine(read(a[i]), read(b[i])), read(c[i])), read(d[i])));
      }
  }
}

// A Format has
//   Element                            as it is stored, and as it is added
//   read(element)                      what is added; of what it returned before, the same again
//   with_writer(target, begin, use)    calls use(write), write(i, sum) finishing and storing element begin + i
// and Combine is a function of two elements.
template <typename Format, typename Combine>
void reduce_in_blocks(Combine combine, const ReduceTarget& target, std::span<const ReduceSource> sources,
                      std::size_t count) {
  using Element = typename Format::Element;
  alignas(64) std::array<Element, kReduceBlockCount> block;

  for (std::size_t begin = 0; begin < count; begin += kReduceBlockCount) {
    const std::size_t n = std::min(kReduceBlockCount, count - begin);
    std::array<const Element*, kMaxFusedSources> inputs;
    std::size_t input_count = 0, taken = 0;
    while (true) {
      while (input_count < kMaxFusedSources && taken < sources.size()) {
        inputs[input_count++] = static_cast<const Element*>(sources[taken++].data) + begin;
      }
      const std::span<const Element* const> ready(inputs.data(), input_count);
      if (taken == sources.size()) {
        Format::with_writer(target, begin, [&](auto write) { fold<Format>(ready, combine, write, n); });
        break;
      }
      fold<Format>(ready, combine, [&block](std::size_t i, Element sum) { block[i] = sum; }, n);
      inputs[0] = block.data();
      input_count = 1;
    }
  }
}

}  // namespace isthmus
