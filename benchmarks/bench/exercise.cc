#include "benchmarks/bench/exercise.h"

#include <cstring>

namespace isthmus::bench {
namespace {

constexpr Duration kUntilItEnds{-1};
constexpr int kSpoiled = 0xA5;  // has the sign bit, which no element of a pattern has

Status wait_all(std::vector<std::shared_ptr<Work>>* works) {
  Status first;
  for (const auto& work : *works) {
    const Status status = work->wait(kUntilItEnds);
    if (first.ok()) first = status;
  }
  works->clear();
  return first;
}

}  // namespace

Exercise::Exercise(const ExerciseOptions& options, Communicator* world, const Pattern& pattern)
    : options_(options), world_(world), pattern_(pattern), calls_(static_cast<std::size_t>(options.together)) {
  const std::size_t bytes = options.count * dtype_size_bytes(options.dtype);
  const auto ranks = static_cast<std::size_t>(world->size());
  for (Call& call : calls_) {
    const Case c = options.run_case;
    const bool sends_all = c == Case::kReduceScatter || c == Case::kScatter || c == Case::kAllToAll;
    const bool takes_all = c == Case::kAllGather || c == Case::kGather || c == Case::kAllToAll;
    call.input.resize(sends_all ? bytes * ranks : bytes);
    call.output.resize(takes_all ? bytes * ranks : bytes);
  }
}

bool Exercise::is_timed() const {
  const bool is_last = world_->rank() == last_rank();
  if (options_.run_case == Case::kStream) return is_last;
  return options_.run_case != Case::kPingPong || is_last || world_->rank() == 0;
}

void Exercise::prepare(std::uint64_t seed) {
  seed_ = seed;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    pattern_.fill(calls_[i].input, pattern_.of_rank(world_->rank(), seed_of(i)), 0);
    std::memset(calls_[i].output.data(), kSpoiled, calls_[i].output.size());
    if (options_.run_case == Case::kBroadcast && world_->rank() == 0) calls_[i].output = calls_[i].input;
  }
}

Status Exercise::keep(Call& call, Communicator::WorkResult work) {
  ISTHMUS_RETURN_IF_ERROR(work.status());
  call.works.push_back(std::move(work).value());
  return Status();
}

// Rank 0 sends and takes the answer; the last rank can answer only when it has the message.
Status Exercise::issue_ping_pong(Call& call) {
  const CallOptions limits{options_.timeout, 0};
  const std::size_t count = options_.count;
  if (world_->rank() == 0) {
    ISTHMUS_RETURN_IF_ERROR(keep(call, world_->send(call.input.data(), count, options_.dtype, last_rank(), limits)));
    return keep(call, world_->receive(call.output.data(), count, options_.dtype, last_rank(), limits));
  }
  if (world_->rank() != last_rank()) return Status();
  return keep(call, world_->receive(call.output.data(), count, options_.dtype, 0, limits));
}

Status Exercise::issue(Call& call) {
  const CallOptions limits{options_.timeout, 0};
  CallOptions reducing = limits;
  if (options_.op == ReduceOp::kPremulSum) reducing.premul_factor = Pattern::factor(world_->rank());
  const std::size_t count = options_.count;
  const DataType type = options_.dtype;
  const int rank = world_->rank(), size = world_->size();
  void* const output = call.output.data();
  const void* const input = call.input.data();
  switch (options_.run_case) {
    case Case::kAllreduce: return keep(call, world_->allreduce(input, output, count, type, options_.op, reducing));
    case Case::kReduceScatter:
      return keep(call, world_->reduce_scatter(input, output, count, type, options_.op, reducing));
    case Case::kAllGather: return keep(call, world_->all_gather(input, output, count, type, limits));
    case Case::kBroadcast: return keep(call, world_->broadcast(output, count, type, 0, limits));
    case Case::kReduce: return keep(call, world_->reduce(input, output, count, type, options_.op, 0, limits));
    case Case::kGather: return keep(call, world_->gather(input, output, count, type, 0, limits));
    case Case::kScatter: return keep(call, world_->scatter(input, output, count, type, 0, limits));
    case Case::kAllToAll: return keep(call, world_->all_to_all(input, output, count, type, limits));
    case Case::kBarrier: return keep(call, world_->barrier(limits));
    case Case::kSendRecv:
      ISTHMUS_RETURN_IF_ERROR(keep(call, world_->send(input, count, type, (rank + 1) % size, limits)));
      return keep(call, world_->receive(output, count, type, (rank + size - 1) % size, limits));
    case Case::kPingPong: return issue_ping_pong(call);
    case Case::kStream:
      if (rank == 0) return keep(call, world_->send(input, count, type, last_rank(), limits));
      if (rank == last_rank()) return keep(call, world_->receive(output, count, type, 0, limits));
      return Status();
  }
  return internal_error("a case without a call");
}

Status Exercise::start() {
  for (Call& call : calls_) ISTHMUS_RETURN_IF_ERROR(issue(call));
  return Status();
}

Status Exercise::finish() {
  const bool answers = options_.run_case == Case::kPingPong && world_->rank() == last_rank();
  for (Call& call : calls_) {
    ISTHMUS_RETURN_IF_ERROR(wait_all(&call.works));
    if (!answers) continue;
    ISTHMUS_RETURN_IF_ERROR(keep(
        call, world_->send(call.output.data(), options_.count, options_.dtype, 0, CallOptions{options_.timeout, 0})));
  }
  if (!answers) return Status();
  for (Call& call : calls_) ISTHMUS_RETURN_IF_ERROR(wait_all(&call.works));
  return Status();
}

std::uint64_t Exercise::wrong_blocks(const Call& call, std::uint64_t seed, std::size_t first) const {
  const std::size_t bytes = options_.count * dtype_size_bytes(options_.dtype);
  std::uint64_t wrong = 0;
  for (int rank = 0; rank < world_->size(); ++rank) {
    const ConstBytes block(call.output.data() + static_cast<std::size_t>(rank) * bytes, bytes);
    wrong += pattern_.count_wrong(block, pattern_.of_rank(rank, seed), first);
  }
  return wrong;
}

std::uint64_t Exercise::count_wrong() const {
  const int rank = world_->rank(), size = world_->size();
  const bool is_end = rank == last_rank() || (rank == 0 && options_.run_case == Case::kPingPong);
  const std::size_t own_block = static_cast<std::size_t>(rank) * options_.count;
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    const Call& call = calls_[i];
    const std::uint64_t seed = seed_of(i);
    switch (options_.run_case) {
      case Case::kAllreduce: wrong += pattern_.count_wrong(call.output, pattern_.reduced(seed), 0); break;
      case Case::kReduceScatter: wrong += pattern_.count_wrong(call.output, pattern_.reduced(seed), own_block); break;
      case Case::kAllGather: wrong += wrong_blocks(call, seed, 0); break;
      case Case::kAllToAll: wrong += wrong_blocks(call, seed, own_block); break;
      case Case::kGather: wrong += rank == 0 ? wrong_blocks(call, seed, 0) : 0; break;
      case Case::kScatter: wrong += pattern_.count_wrong(call.output, pattern_.of_rank(0, seed), own_block); break;
      case Case::kReduce: wrong += rank == 0 ? pattern_.count_wrong(call.output, pattern_.reduced(seed), 0) : 0; break;
      case Case::kSendRecv:
        wrong += pattern_.count_wrong(call.output, pattern_.of_rank((rank + size - 1) % size, seed), 0);
        break;
      case Case::kPingPong:
      case Case::kStream:
        if (!is_end) break;
        [[fallthrough]];
      case Case::kBroadcast: wrong += pattern_.count_wrong(call.output, pattern_.of_rank(0, seed), 0); break;
      case Case::kBarrier: break;
    }
  }
  return wrong;
}

}  // namespace isthmus::bench
