// What an allreduce or reduce-scatter must give: whole buffers, no chunks, no schedule.
//
// Threads: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "collectives/schedule/allreduce.h"
#include "collectives/site_map.h"
#include "runtime/base/dtype.h"
#include "tests/collectives/schedule/world.h"

namespace isthmus::testing {

// The bytes: inputs summed in the documented order of the algorithm, rounded where it says so.
Buffer ordered_allreduce(const SiteMap& sites, DataType type, ReduceOp op, AllreduceAlgorithm algorithm,
                         std::span<const std::uint32_t> owner_weights, const std::vector<Buffer>& inputs,
                         std::vector<int> site_order = {});

// The value of one element, from all ranks' inputs, in long double; integers and bools exactly. Of complex numbers
// `index` counts parts: the real part of the first, its imaginary part, that of the second...
long double exact_element(DataType type, ReduceOp op, const std::vector<Buffer>& inputs, std::size_t index);
long double element_at(DataType type, const Buffer& buffer, std::size_t index);

constexpr std::size_t parts_of(DataType type, std::size_t count) { return is_complex(type) ? 2 * count : count; }

// How far a result may lie from the exact one when `ranks` values of about 1 are reduced and every tier rounds.
long double tolerance(DataType type, ReduceOp op, std::size_t ranks);

}  // namespace isthmus::testing
