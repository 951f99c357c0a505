// MeshMessage: what two processes say to each other over their control connection.
//
// Threads: pure functions. The decoder treats its input as hostile.
//
// The greeting's beginning (magic, version) is the same in every version, so that peers of different ones can name
// both.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/process_id.h"
#include "runtime/base/status.h"

namespace isthmus {

enum class MeshMessageKind : std::uint8_t {  // on the wire: never renumber
  kHello = 1,                                // from the dialling side: `process` to `number`; `text`: see pair_secret.h
  kWelcome = 2,                              // the answer: the connection stands; `text`: see pair_secret.h
  kRefusal = 3,                              // the answer: `text` says why; the stream ends
  kHeartbeat = 4,
  kDirect = 5,  // `text` is a message of the layer above
  kFlood = 6,   // the same for everyone: `process` made it, `number` is its count
  kDeath = 7,   // flooded: `process` made it, `number` is its count, `subject` is dead, `text` says why
  kGoodbye = 8,
  kGoodbyeHeard = 9,
  kPing = 10,  // `number` comes back in kPong
  kPong = 11,
  kProbe = 12,  // in place of kHello, from the side that does not dial: is `number` there? It should dial `process`
  kAlive = 13,  // the answer; the stream ends
};

struct MeshMessage {
  MeshMessageKind kind = MeshMessageKind::kHeartbeat;
  std::uint32_t version = 0;  // kHello, kRefusal: the sender's protocol version
  ProcessId process = 0;
  std::uint64_t number = 0;
  ProcessId subject = 0;
  std::string text;
};

std::string encode_mesh_message(const MeshMessage& message);

// corruption: not ours. A message of another version has only kind, version and text.
Result<MeshMessage> decode_mesh_message(std::string_view bytes);

}  // namespace isthmus
