// Sums of halves with the widest vectors that the processor has, chosen at run time. Internal to runtime/device: what
// reduce() and scale() would calculate, byte for byte, only sooner.
//
// Threads: any thread, on disjoint targets, in the default rounding state.
//
// Kernels are kept where they beat the plain loops, which the compiler makes of the definition for every processor of
// the architecture. That is on x86-64 with AVX2 or AVX-512, which convert halves; sums of wider numbers are as fast as
// memory either way (isthmus-bench-kernels).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "runtime/device/reduce.h"

namespace isthmus {

struct VectorSource {
  const void* data = nullptr;
  bool wide = false;  // fp32
  float factor = 1;   // multiplied when loaded
};

// to[i] = round(((source_0[i] + source_1[i]) + ...) / divisor * factor), as reduce.h says.
struct VectorSum {
  DataType type = DataType::kFloat16;  // or kBFloat16
  std::array<VectorSource, 4> sources;
  std::size_t source_count = 0;
  void* to = nullptr;
  bool wide = false;
  float factor = 1;
  std::uint32_t divisor = 1;
};

// How many elements are done, from the first, and by which instruction set ("AVX2"). The others, fewer than
// kVectorElements, or all where no kernel pays, are left to the definition.
struct VectorDone {
  std::size_t count = 0;
  std::string_view target;  // empty: nothing was done
};
inline constexpr std::size_t kVectorElements = 64;
VectorDone sum_in_vectors(const VectorSum& sum, std::size_t count);

// Of any number of sources: those of reduce(), kSum of a half type.
VectorDone reduce_sum_in_vectors(DataType type, const ReduceTarget& target, std::span<const ReduceSource> sources,
                                 std::size_t count);

// The instruction set of these sums on this processor: "AVX2"; empty where the definition is used.
std::string_view vector_target();

}  // namespace isthmus
