// What the tests of the schedules share: the shapes of the worlds, values, and a run of all ranks' schedules.
//
// Threads: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "collectives/site_map.h"
#include "runtime/base/dtype.h"
#include "runtime/engine/schedule.h"
#include "tests/support/schedule_memory.h"

namespace isthmus::testing {

using Buffer = std::vector<std::byte>;

struct Shape {
  std::string name;
  std::vector<int> site_of_rank;
  SiteMap sites() const { return SiteMap(site_of_rank); }
};

// 1 to 8 sites of 1 to 4 ranks, and worlds of sites that differ in size or whose ranks are interleaved.
std::vector<Shape> all_shapes();
std::vector<Shape> uneven_shapes();

// 0, 1, p-1, p, p+1 for the p ranks of a shape, and `large`.
std::vector<std::size_t> lengths_for(const Shape& shape, std::size_t large);

// Block sizes of all ranks: all `size`; or different ones up to `largest`, some of them 0.
std::vector<std::size_t> equal_blocks(const SiteMap& sites, std::size_t size);
std::vector<std::size_t> uneven_blocks(const SiteMap& sites, std::size_t largest, std::uint64_t seed);

// Values of the type that neither overflow nor vanish in any reduction; small integers and fractions of both signs.
Buffer random_values(DataType type, std::size_t count, std::uint64_t seed);
// Any bits at all: NaN, infinities, zeros of both signs, subnormals, bools beyond 1.
Buffer random_bits(std::size_t bytes, std::uint64_t seed);

using BuildSchedule = std::function<Schedule(int rank)>;

// Builds the schedules of all ranks, checks them for defects and runs them with each rank's input in its input buffer;
// adds a failure to the running test where something is wrong. Returns the outputs.
std::vector<Buffer> run_world(const SiteMap& sites, const std::vector<BufferLayout>& layouts,
                              const BuildSchedule& build, const std::vector<Buffer>& inputs, std::uint64_t seed);

std::vector<Schedule> build_all(const SiteMap& sites, const BuildSchedule& build);

}  // namespace isthmus::testing
