// SendOrder: whose segment goes next on a channel. Operations of higher priority go first; operations of equal priority
// take turns by communicator, in proportion to nothing but the bytes that each has sent, and within a communicator the
// oldest goes first. One segment in kTurnOfTheLowest goes to the lowest priority that waits, so that none starves.
//
// Threads: one thread at a time. Cost: pick() looks at the operations that may not send now and at those before its
// choice; nothing is allocated but by add().
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace isthmus {

class SendOrder {
 public:
  static constexpr int kTurnOfTheLowest = 8;

  void add(void* operation, std::uint64_t communicator, int priority);
  void remove(void* operation);

  // The operation that goes next among those for which `may_send(operation)`; nullptr: none. Changes nothing.
  template <typename MaySend>
  void* pick(MaySend may_send) const {
    const bool from_below = turn_ == 0;
    const std::size_t count = flows_.size();
    for (std::size_t first = 0; first < count;) {
      const std::size_t end = end_of_level(first, from_below);
      void* best = nullptr;
      std::uint64_t least = 0;
      for (std::size_t i = first; i < end; ++i) {
        const Flow& flow = flows_[from_below ? count - 1 - i : i];
        if (best != nullptr && flow.sent_bytes >= least) continue;
        for (void* operation : flow.operations) {
          if (!may_send(operation)) continue;
          best = operation;
          least = flow.sent_bytes;
          break;
        }
      }
      if (best != nullptr) return best;
      first = end;
    }
    return nullptr;
  }

  // `operation` was picked and sent a segment of `bytes`.
  void sent(void* operation, std::size_t bytes);

 private:
  // The operations of one communicator and priority.
  struct Flow {
    int priority = 0;
    std::uint64_t communicator = 0;
    std::uint64_t sent_bytes = 0;  // since the level was empty; a newcomer starts with the least of its level
    std::vector<void*> operations;
  };
  // One past the last position of the level of priority at `first`, counted from either end.
  std::size_t end_of_level(std::size_t first, bool from_below) const;

  std::vector<Flow> flows_;  // highest priority first
  int turn_ = 1;
};

}  // namespace isthmus
