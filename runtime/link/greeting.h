// Greeting: what the dialling side of a lane says first, so that the other side knows which link it belongs to and,
// when links are sealed, that the peer says it.
//
// Threads: pure functions. The decoder treats its input as hostile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/process_id.h"
#include "runtime/base/status.h"
#include "runtime/security/link_cipher.h"

namespace isthmus {

struct LaneGreeting {
  ProcessId from = 0, to = 0;
  std::uint64_t session = 0;  // drawn by the dialling side, once per link
  std::uint32_t epoch = 0;
  std::uint32_t serial = 0;      // of the lane, from 1: rises from dial to dial, so that a greeting serves once
  std::uint32_t first_kept = 0;  // lanes with a smaller serial are given up: their path fell silent
};

struct ReceivedGreeting {
  LaneGreeting greeting;
  std::string bytes;  // as they came

  // corruption: no code, a wrong one, or one where none belongs. `keys`: nullopt on links that are not sealed.
  Status authenticate(const std::optional<LinkKeys>& keys) const;
};

std::string encode_greeting(const LaneGreeting& greeting, const std::optional<LinkKeys>& keys);

// Checks everything but the code. corruption: not ours. unsupported: another version of the protocol, both named.
Result<ReceivedGreeting> decode_greeting(std::string_view bytes);

}  // namespace isthmus
