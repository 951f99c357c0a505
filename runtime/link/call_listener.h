// CallListener: hears which collectives the peers of a communicator call, from every channel, whether or not the own
// call uses that channel.
//
// Threads: the progress thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace isthmus {

class CallListener {
 public:
  virtual ~CallListener() = default;

  // `rank` calls the collective `sequence`, described so. May be told more than once. Must not close operations.
  virtual void on_call(std::uint32_t rank, std::uint64_t sequence, std::string_view descriptor) = 0;
};

}  // namespace isthmus
