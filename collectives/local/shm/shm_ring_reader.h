// The receiving end of a ring in shared memory.
//
// Threads: one thread at a time. Nothing blocks and nothing allocates, but for the message of an error.
//
//   while (auto message = reader.peek()) { use(*message); if (reader.pop()) mate.wake(); }
//   if (reader.arm()) { sleep until woken }
//
// The writer's side of the memory is not trusted: counters and lengths that make no sense (its process died half way,
// or is not ours) end the ring with `corruption`, and no byte outside the ring is ever read. The bytes of a message
// can still change under the reader's eyes if the writer is hostile: copy a field before it is checked and used.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "collectives/local/shm/shm_ring.h"

namespace isthmus {

class ShmRingReader {
 public:
  // `name` is what messages call the ring.
  static Result<ShmRingReader> attach(std::shared_ptr<ShmMapping> mapping, std::string name);

  // The oldest message, in place, aligned to 16 bytes; valid until pop(). Nothing: none is there, or status() is not
  // ok.
  std::optional<ConstBytes> peek();

  // Gives back the room of what peek() showed; without it nothing happens. True: the writer waits for this room, wake
  // it.
  [[nodiscard]] bool pop();

  // Announces that this side will sleep until the next message. False: one is there now (or the ring has failed). A
  // wake-up may come for nothing. The announcement may be left standing: it costs one needless wake-up at most.
  [[nodiscard]] bool arm();
  void disarm();

  // Not ok once the ring has failed for good.
  const Status& status() const { return status_; }

 private:
  ShmRingReader(std::shared_ptr<ShmMapping> mapping, ShmRingHeader* header, std::string name);
  bool refresh_head();  // whether anything is there
  std::optional<ConstBytes> take(std::uint64_t at, std::uint64_t length);
  std::optional<ConstBytes> fail(std::string_view what, std::uint64_t value);

  std::shared_ptr<ShmMapping> mapping_;
  ShmRingHeader* header_;
  const std::byte* data_;
  std::size_t capacity_;
  std::uint64_t tail_ = 0;  // never read back from the shared memory
  std::uint64_t next_ = 0;  // tail after the next pop
  std::uint64_t head_ = 0;  // the writer's, as last seen
  std::string name_;
  Status status_;
};

}  // namespace isthmus
