// isthmus-bench-kernels: the speed of the reduction kernels on one core, beside memcpy in the same run.
//
//   isthmus-bench-kernels [KIB]
//
// A row per type, operator and number of sources; `loops` is the definition where reduce() uses vector kernels instead.
// Buffers of KIB kibibytes each (256, as chunks are) are walked through in a pool that no cache holds. GB/s counts what
// is read and what is written; memcpy's likewise. Times are of the processor, not of the clock, so that other programs
// disturb less; the best of several runs counts.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "runtime/device/reduce.h"
#include "runtime/device/reduce_kernels.h"
#include "runtime/device/reducible.h"
#include "runtime/device/scale.h"

namespace isthmus::bench {
namespace {

constexpr std::size_t kPoolBytes = std::size_t{96} << 20;
constexpr int kRuns = 5;

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Best rate of `call(buffers)`, which is given `count` neighbouring buffers of the pool at a time.
template <typename Call>
double gigabytes_per_second(std::vector<std::byte>& pool, std::size_t buffer_bytes, std::size_t count, Call call) {
  const std::size_t group = buffer_bytes * count, groups = std::max<std::size_t>(1, pool.size() / group);
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    const double start = processor_seconds();
    for (std::size_t i = 0; i < groups; ++i) call(pool.data() + i * group);
    best = std::max(best, static_cast<double>(groups * group) / (processor_seconds() - start) * 1e-9);
  }
  return best;
}

using Reduce = void (*)(DataType, ReduceOp, const ReduceTarget&, std::span<const ReduceSource>, std::size_t);

void reduce_in_loops(DataType type, ReduceOp op, const ReduceTarget& target, std::span<const ReduceSource> sources,
                     std::size_t count) {
  reduce_halves(type, op, target, sources, 0, count);
}

double measure_reduce(Reduce reduce, std::vector<std::byte>& pool, std::size_t bytes, DataType type, ReduceOp op,
                      std::size_t sources, std::uint32_t divisor, std::int8_t exponent) {
  return gigabytes_per_second(pool, bytes, sources + 1, [&](std::byte* buffers) {
    std::vector<ReduceSource> inputs;
    for (std::size_t k = 0; k < sources; ++k) inputs.push_back({buffers + k * bytes, false, exponent});
    const ReduceTarget target{buffers + sources * bytes, false, static_cast<std::int8_t>(-exponent), divisor};
    reduce(type, op, target, inputs, bytes / dtype_size_bytes(type));
  });
}

void print_row(std::string_view type, std::string_view op, std::size_t sources, double rate, double memcpy_rate,
               double loops_rate = 0) {
  fmt::print("{:<11} {:<10} {:>7} {:>8.2f} {:>8.2f}", type, op, sources, rate, rate / memcpy_rate);
  if (loops_rate > 0) fmt::print(" {:>8.2f}", loops_rate);
  fmt::print("\n");
}

void print_type(std::vector<std::byte>& pool, std::size_t bytes, DataType type, double memcpy_rate) {
  const std::string_view name = dtype_name(type);
  for (int i = 0; i < kReduceOpCount; ++i) {
    const auto op = static_cast<ReduceOp>(i);
    if (!is_reducible(type, op)) continue;
    if (op == ReduceOp::kPremulSum) {
      const double rate = gigabytes_per_second(pool, bytes, 2, [&](std::byte* buffers) {
        scale(type, 0.3, buffers, buffers + bytes, bytes / dtype_size_bytes(type));
      });
      print_row(name, "scale", 1, rate, memcpy_rate);
      continue;
    }
    const bool averages = op == ReduceOp::kAvg;
    for (const std::size_t sources : {2, 4, 8}) {
      if (sources != 2 && op != ReduceOp::kSum && !averages) continue;
      const std::uint32_t divisor = averages ? 3 : 1;
      const std::int8_t exponent = averages && is_half(type) ? -2 : 0;
      const auto measure = [&](Reduce kernel) {
        return measure_reduce(kernel, pool, bytes, type, combining_op(op), sources, divisor, exponent);
      };
      const bool has_kernel = is_half(type) && combining_op(op) == ReduceOp::kSum;
      print_row(name, reduce_op_name(op), sources, measure(reduce), memcpy_rate,
                has_kernel ? measure(reduce_in_loops) : 0);
    }
  }
}

int run(std::size_t bytes) {
  std::vector<std::byte> pool(kPoolBytes);
  for (std::size_t i = 0; i < pool.size(); ++i) pool[i] = static_cast<std::byte>(i * 2654435761u >> 13 & 0x3f);
  const double memcpy_rate = gigabytes_per_second(
      pool, bytes, 2, [bytes](std::byte* buffers) { std::memcpy(buffers + bytes, buffers, bytes); });
  fmt::print("{:<11} {:<10} {:>7} {:>8} {:>8} {:>8}\n", "type", "op", "sources", "GB/s", "/memcpy", "loops");
  print_row("", "memcpy", 1, memcpy_rate, memcpy_rate);
  for (int type = 0; type < kDataTypeCount; ++type) print_type(pool, bytes, static_cast<DataType>(type), memcpy_rate);
  return 0;
}

}  // namespace
}  // namespace isthmus::bench

int main(int argc, char** argv) {
  const long kib = argc == 2 ? std::strtol(argv[1], nullptr, 10) : 256;
  if (argc > 2 || kib < 1 || kib > 16384) {
    fmt::print(stderr, "Usage: isthmus-bench-kernels [KIB of a buffer, 1..16384]\n");
    return 2;
  }
  return isthmus::bench::run(static_cast<std::size_t>(kib) * 1024);
}
