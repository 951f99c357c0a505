// A pipe of shared memory between two ends, as a process uses it: ring, bell and sleep; and messages that can be
// checked. Shared by the tests of collectives/local/shm.
//
// Threads: one thread at a time per end.
#pragma once

#include <poll.h>

#include <cstdint>
#include <cstring>
#include <random>

#include "collectives/local/shm/shm_directory.h"
#include "collectives/local/shm/shm_mate.h"

namespace isthmus::shm_test {

inline constexpr int kPatienceMs = 20'000;  // far more than any wake-up takes: a lost one fails the test

// Message `index` of a run: a length drawn from the index, and bytes that depend on both.
inline std::size_t length_of(std::uint64_t index, std::size_t most) {
  std::minstd_rand random(static_cast<unsigned>(index * 2654435761u + 1));
  random.discard(3);
  return 1 + random() % most;
}
inline void fill(MutableBytes bytes, std::uint64_t index) {
  for (std::size_t i = 0; i < bytes.size(); i += 61) bytes[i] = static_cast<std::byte>(index + i);
  bytes.back() = static_cast<std::byte>(index);
}
inline bool is_filled(ConstBytes bytes, std::uint64_t index) {
  bool same = bytes.back() == static_cast<std::byte>(index);
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 61) same = same && bytes[i] == static_cast<std::byte>(index + i);
  return same;
}

inline bool sleep_on(ShmDirectory& own) {
  pollfd waited{own.wake_fd(), POLLIN, 0};
  const bool woken = ::poll(&waited, 1, kPatienceMs) == 1;
  own.drain_wakes();
  return woken;
}

// Sends messages [0, count) of at most `most` bytes; returns how many were sent before something failed.
inline std::uint64_t send_all(ShmDirectory& own, const ShmMate& mate, ShmRingWriter& writer, std::uint64_t count,
                              std::size_t most) {
  for (std::uint64_t index = 0; index < count;) {
    const std::size_t bytes = length_of(index, most);
    if (auto room = writer.try_reserve(bytes)) {
      fill(*room, index++);
      if (writer.commit()) mate.wake();
    } else if (!writer.status().ok() || (writer.arm(bytes) && !sleep_on(own))) {
      return index;
    }
  }
  return count;
}

// Receives and checks messages [0, count); returns how many came right before something failed.
inline std::uint64_t receive_all(ShmDirectory& own, const ShmMate& mate, ShmRingReader& reader, std::uint64_t count,
                                 std::size_t most) {
  for (std::uint64_t index = 0; index < count;) {
    if (auto message = reader.peek()) {
      if (message->size() != length_of(index, most) || !is_filled(*message, index)) return index;
      ++index;
      if (reader.pop()) mate.wake();
    } else if (!reader.status().ok() || (reader.arm() && !sleep_on(own))) {
      return index;
    }
  }
  return count;
}

}  // namespace isthmus::shm_test
