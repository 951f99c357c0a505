// Sizes as people write them ("64MiB", "1M", "100kB"), and the sizes of a sweep.
//
// Threads: any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace isthmus::bench {

inline constexpr std::uint64_t kMaxSizeBytes = std::uint64_t{1} << 40;

// Bytes: a number with nothing or B; K, M, G or KiB, MiB, GiB (powers of 1024); kB, MB, GB (powers of 1000).
Result<std::uint64_t> parse_size(std::string_view text);

// "64MiB", "1000": the shortest text that parse_size reads back as the same number.
std::string format_size(std::uint64_t bytes);

// min, min x factor, ... up to max. invalid_argument: min is 0 or above max, or the factor is below 2.
Result<std::vector<std::uint64_t>> sweep_sizes(std::uint64_t min_bytes, std::uint64_t max_bytes, std::uint64_t factor);

}  // namespace isthmus::bench
