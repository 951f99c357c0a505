// The sending end of a ring in shared memory.
//
// Threads: one thread at a time. Nothing blocks and nothing allocates, but for the message of an error.
//
//   if (auto room = writer.try_reserve(n)) { fill(*room); if (writer.commit()) mate.wake(); }
//   else if (!writer.arm(n)) { try again } else { sleep until woken }
//
// The reader's side of the memory is not trusted: a tail that makes no sense ends the ring with `corruption`.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "collectives/local/shm/shm_ring.h"

namespace isthmus {

class ShmRingWriter {
 public:
  // `name` is what messages call the ring.
  static Result<ShmRingWriter> attach(std::shared_ptr<ShmMapping> mapping, std::string name);

  std::size_t max_message_bytes() const { return shm_max_message_bytes(capacity_); }

  // Room for one message of exactly `bytes` (0 is a message too), aligned to 16 bytes, until the next call. Nothing:
  // the ring is full, or status() is not ok. More than max_message_bytes() never fits and ends the ring.
  std::optional<MutableBytes> try_reserve(std::size_t bytes);

  // Hands over what was reserved; without a reservation nothing happens. True: the reader sleeps, wake it.
  [[nodiscard]] bool commit();

  // Announces that this side will sleep until a message of `bytes` fits. False: it fits now (or the ring has failed).
  // A wake-up may come for nothing. The announcement may be left standing: it costs one needless wake-up at most.
  [[nodiscard]] bool arm(std::size_t bytes);
  void disarm();

  // Whether the reader has taken out every message.
  bool drained();

  // Not ok once the ring has failed for good.
  const Status& status() const { return status_; }

 private:
  ShmRingWriter(std::shared_ptr<ShmMapping> mapping, ShmRingHeader* header, std::string name);
  std::uint64_t needed_bytes(std::size_t message_bytes) const;  // record and what is skipped before it
  bool fits(std::uint64_t needed_bytes);
  void refresh_tail();

  std::shared_ptr<ShmMapping> mapping_;
  ShmRingHeader* header_;
  std::byte* data_;
  std::size_t capacity_;
  std::uint64_t head_ = 0;      // never read back from the shared memory
  std::uint64_t reserved_ = 0;  // head after the next commit
  std::uint64_t tail_ = 0;      // the reader's, as last seen
  std::string name_;
  Status status_;
};

}  // namespace isthmus
