// Planner: chooses how an allreduce is done on a network, and says what it expects of it.
//
// The model is alpha-beta, per site: a chunk takes the delay of its way, a line takes the bytes that the algorithm puts
// on it at its rate, and every message costs a little time of a processor and some bytes of headers. The time of a plan
// is
//     way + max over lines (bytes / rate) + pipeline - overlap
// where `way` is the sum of the delays of the first chunk, `pipeline` is what a line waits for the first chunk of the
// steps before it, and `overlap` is what of both passes while lines are busy with other chunks. The plan with the least
// time is taken; where two are within 2 %, the one that sums in site order, then the simpler one.
//
// Threads: a Planner is immutable: any thread. Cost: O(S^2) to make one, O(S) for a plan.
//
// Every rank that has the same Network makes the same plans: arithmetic of doubles by + - * / alone, in one order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "collectives/plan/allreduce_load.h"
#include "collectives/plan/network.h"
#include "collectives/schedule/allreduce_algorithm.h"
#include "runtime/base/dtype.h"

namespace isthmus {

struct PlanRequest {
  std::size_t bytes = 0;  // of one rank's buffer
  DataType type = DataType::kFloat32;
  std::optional<AllreduceAlgorithm> algorithm;  // forced
  bool equal_shares = false;                    // forced
  bool site_order_only = false;                 // the option deterministic
  std::size_t max_chunk_bytes = 256 * 1024;     // the option chunk_bytes
};

// All in seconds.
struct PlanEstimate {
  double way = 0, transfer = 0, pipeline = 0, overlap = 0;
  double processor = 0;  // of the busiest rank, at the same time as the transfer
  double lower_bound = 0;
  int busiest_site = 0;      // whose line determines `transfer`
  double busiest_bytes = 0;  // that it sends or receives
  double busy() const { return transfer > processor ? transfer : processor; }
  double time() const { return way + busy() + pipeline - overlap; }
};

struct AllreducePlan {
  AllreduceLayout layout;
  std::size_t chunk_bytes = 256 * 1024;
  int lanes = 1;  // per link, to fill its part of the line; a link finds out by itself
  PlanEstimate estimate;
};

class Planner {
 public:
  // At least one site.
  explicit Planner(Network network);

  AllreducePlan plan(const PlanRequest& request) const;
  // The best plan of every algorithm, in the order of the enumeration.
  std::vector<AllreducePlan> candidates(const PlanRequest& request) const;

  const Network& network() const { return network_; }
  const std::vector<std::uint32_t>& owner_weights() const { return weights_; }

 private:
  AllreduceLayout layout_of(AllreduceAlgorithm algorithm, bool equal_shares) const;
  AllreducePlan best_chunk(AllreduceAlgorithm algorithm, const PlanRequest& request) const;
  PlanEstimate estimate(const AllreduceLayout& layout, const PlanRequest& request, std::size_t chunk_bytes) const;
  int lanes_for(const AllreduceLayout& layout) const;
  double narrowest_path(const AllreduceLayout& layout) const;

  // What does not depend on the operation, by algorithm.
  struct Fixed {
    std::int64_t way_us = 0;
    int lanes = 1;
    double path_seconds_per_byte = 0;  // of the pair that takes longest, where paths are narrower than lines
  };

  const Network network_;
  std::vector<std::uint32_t> weights_;  // empty: equal
  std::vector<int> order_;
  std::vector<Fixed> fixed_;
};

}  // namespace isthmus
