// Greeting: what the dialling side of a lane says first, so that the other side knows which link it belongs to.
//
// Threads: pure functions. The decoder treats its input as hostile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/process_id.h"
#include "runtime/base/status.h"

namespace isthmus {

struct LaneGreeting {
  ProcessId from = 0, to = 0;
  std::uint64_t session = 0;  // drawn by the dialling side, once per link
  std::uint32_t epoch = 0;
  std::uint16_t lane = 0;  // index, for logs
};

std::string encode_greeting(const LaneGreeting& greeting);

// corruption: not ours. unsupported: another version of the protocol, both named.
Result<LaneGreeting> decode_greeting(std::string_view bytes);

}  // namespace isthmus
