// Runs the schedules of all ranks in one thread, in an order drawn from a seed, as adversely as the contract allows.
//
// Threads: one thread at a time.
//
// A send is read at any time between its start and its completion; a receive's target is overwritten with garbage when
// it starts; under kRendezvous a send completes only when its receive was started (a channel without any credit).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/engine/schedule.h"
#include "tests/support/schedule_memory.h"

namespace isthmus::testing {

enum class SendMode { kEager, kRendezvous };

class ScheduleExecutor {
 public:
  // `schedules` and `memories` (one per rank) outlive the executor.
  ScheduleExecutor(const std::vector<Schedule>& schedules, std::vector<ScheduleMemory>* memories, SendMode mode,
                   std::uint64_t seed);

  // What kScale steps of the rank multiply by: a half, three quarters with another sign, 1, and no binary fraction.
  static double factor_of(std::size_t rank) { return std::array{0.5, -0.75, 1.0, 0.3}[rank % 4]; }

  // Empty when every step of every rank is complete; else which ones are stuck.
  std::string run();

  // After run(): whether the rank's own schedule is complete.
  bool is_complete(std::size_t rank) const;

 private:
  enum class State : std::uint8_t { kWaiting, kStarted, kComplete };
  using Transfer = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;
  struct Place {
    std::size_t rank = 0, step = 0;
  };

  bool advance(const Place& place);  // whether something happened
  bool is_ready(const Place& place) const;
  bool start(const Place& place);
  bool finish_send(const Place& place);
  bool finish_receive(const Place& place);
  void reduce_step(std::size_t rank, const Step& step);
  void scale_step(std::size_t rank, const Step& step);
  Transfer transfer_of(const Place& place) const;
  const Step& step_at(const Place& place) const { return schedules_[place.rank].steps[place.step]; }
  State& state_at(const Place& place) { return states_[place.rank][place.step]; }

  const std::vector<Schedule>& schedules_;
  std::vector<ScheduleMemory>& memories_;
  const SendMode mode_;
  std::mt19937_64 random_;
  std::vector<std::vector<State>> states_;
  std::map<Transfer, std::vector<std::byte>> in_flight_;
  std::map<Transfer, bool> receive_started_;
};

}  // namespace isthmus::testing
