#include "benchmarks/bench/sizes.h"

#include <array>
#include <charconv>
#include <cmath>

namespace isthmus::bench {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t bytes;
};

constexpr std::uint64_t kKibi = 1024, kKilo = 1000;
constexpr std::array<Unit, 13> kUnits{{{"", 1},
                                       {"B", 1},
                                       {"K", kKibi},
                                       {"KiB", kKibi},
                                       {"M", kKibi* kKibi},
                                       {"MiB", kKibi* kKibi},
                                       {"G", kKibi* kKibi* kKibi},
                                       {"GiB", kKibi* kKibi* kKibi},
                                       {"kB", kKilo},
                                       {"KB", kKilo},
                                       {"MB", kKilo* kKilo},
                                       {"GB", kKilo* kKilo* kKilo},
                                       {"TiB", kKibi* kKibi* kKibi* kKibi}}};

}  // namespace

Result<std::uint64_t> parse_size(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit_name = text.substr(static_cast<std::size_t>(end - text.data()));
  if (error == std::errc() && std::isfinite(number) && number >= 0) {
    for (const Unit& unit : kUnits) {
      if (unit.name != unit_name) continue;
      const double bytes = number * static_cast<double>(unit.bytes);
      if (bytes <= static_cast<double>(kMaxSizeBytes)) return static_cast<std::uint64_t>(std::llround(bytes));
    }
  }
  return invalid_argument("'{}' is not a size: give a number of bytes up to {}, or one with KiB, MiB, GiB, kB, MB, GB",
                          text, format_size(kMaxSizeBytes));
}

std::string format_size(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 4> kNames{"KiB", "MiB", "GiB", "TiB"};
  std::string_view name;
  for (std::string_view next : kNames) {
    if (bytes == 0 || bytes % kKibi != 0) break;
    bytes /= kKibi;
    name = next;
  }
  return fmt::format("{}{}", bytes, name);
}

Result<std::vector<std::uint64_t>> sweep_sizes(std::uint64_t min_bytes, std::uint64_t max_bytes, std::uint64_t factor) {
  if (min_bytes == 0 || min_bytes > max_bytes)
    return invalid_argument("--min {} must be above 0 and not above --max {}", min_bytes, max_bytes);
  if (factor < 2) return invalid_argument("--factor {} must be at least 2", factor);
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t size = min_bytes;; size *= factor) {
    sizes.push_back(size);
    if (size > max_bytes / factor) break;  // the next is above, and might not fit into 64 bits
  }
  return sizes;
}

}  // namespace isthmus::bench
