// Exercise: one iteration of a case on this rank: its buffers, how its calls are issued and ended, and what they must
// have received. An iteration is `together` calls, each with buffers and data of its own.
//
// Threads: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "benchmarks/bench/formulas.h"
#include "benchmarks/bench/pattern.h"
#include "collectives/communicator.h"

namespace isthmus::bench {

struct ExerciseOptions {
  Case run_case = Case::kAllreduce;
  DataType dtype = DataType::kFloat32;
  ReduceOp op = ReduceOp::kSum;
  std::size_t count = 0;  // per call, as CallSize has it
  int together = 1;
  Duration timeout{};
};

class Exercise {
 public:
  // `world` outlives the exercise. Allocates the buffers.
  Exercise(const ExerciseOptions& options, Communicator* world, const Pattern& pattern);

  // Writes the inputs that belong to `seed` and spoils the outputs.
  void prepare(std::uint64_t seed);

  Status start();   // issues the calls
  Status finish();  // returns when all have ended

  // Elements that are not what the last prepare() says. The ranks that receive nothing have none.
  std::uint64_t count_wrong() const;

  // Whether this rank's time is the case's: the sender of a stream only waits for room, and other ranks than the two of
  // a ping-pong or a stream do nothing.
  bool is_timed() const;

 private:
  struct Call {
    std::vector<std::byte> input, output;
    std::vector<std::shared_ptr<Work>> works;
  };

  int last_rank() const { return world_->size() - 1; }
  std::uint64_t seed_of(std::size_t call) const { return seed_ * options_.together + call; }
  Status issue(Call& call);
  Status issue_ping_pong(Call& call);
  Status keep(Call& call, Communicator::WorkResult work);
  // Every rank's block is what it has from element `first` on.
  std::uint64_t wrong_blocks(const Call& call, std::uint64_t seed, std::size_t first) const;

  const ExerciseOptions options_;
  Communicator* const world_;
  const Pattern& pattern_;
  std::uint64_t seed_ = 0;
  std::vector<Call> calls_;
};

}  // namespace isthmus::bench
