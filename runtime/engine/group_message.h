// GroupMessage: what runtimes tell each other about groups over the control connections.
//
// Threads: pure functions. The decoder treats its input as hostile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace isthmus {

enum class GroupMessageKind : std::uint8_t {
  kAbort = 1,  // flooded: the group is broken, with this status
  kLeave = 2,  // flooded: the sender has left the group on purpose, and all that it sent was acknowledged
  kDial = 3,   // to one process: open lanes of our link until it has `group` of them
  kProbe = 4,  // to one process: as kDial, and the path is silent for the sender
};

struct GroupMessage {
  GroupMessageKind kind = GroupMessageKind::kAbort;
  std::uint64_t group = 0;    // kDial: number of lanes
  std::uint64_t process = 0;  // whose message it is (a flooded one comes through others)
  Status status;              // kAbort
};

std::string encode_group_message(const GroupMessage& message);
Result<GroupMessage> decode_group_message(std::string_view bytes);

}  // namespace isthmus
