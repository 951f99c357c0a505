// ShmChannel: the channel to a site mate on the same host, over a pair of rings in shared memory.
//
// Cost: one copy into the ring and one out of it. Credits flow as between sites; nothing is acknowledged or sent again,
// because memory loses nothing.
//
// Threads: the progress thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "collectives/local/shm/shm_mate.h"
#include "collectives/local/shm/shm_ring_reader.h"
#include "collectives/local/shm/shm_ring_writer.h"
#include "runtime/base/metrics.h"
#include "runtime/link/matching_channel.h"

namespace isthmus {

class ShmChannel final : public MatchingChannel {
 public:
  // `reader` is our end of the ring that the mate writes into. `traffic` outlives the channel.
  ShmChannel(EagerLimits limits, Traffic* traffic, std::string name, ShmRingReader reader);

  // The mate's end stands: sending may begin.
  void attach(ShmMate mate, ShmRingWriter writer);
  bool is_attached() const { return writer_.has_value(); }

  bool drained() const override;

  // Takes messages out and puts messages in. Returns whether any was.
  bool progress();
  // False: progress() has something to do.
  bool arm();

 private:
  bool take_messages();
  bool put_messages();

  Traffic* const traffic_;
  const std::string name_;
  ShmRingReader reader_;
  std::optional<ShmMate> mate_;
  mutable std::optional<ShmRingWriter> writer_;
};

}  // namespace isthmus
