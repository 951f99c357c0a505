// What a TcpStore and a rendezvous server say to each other, as messages of a control stream.
//
// A connection begins with a greeting each way: u32 magic, u32 protocol version; this part never changes. Then follow
// requests (u64 id, u8 call, text key, text value, u64 delta) and answers (u64 id, u8 status code, text: the value or
// the error, u64 sum). A get is answered when its key exists; a cancel ends it without an answer. Answers may
// overtake each other; those to a request that the client has given up are dropped by their id.
//
// Threads: any thread. Decoders treat their input as hostile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace isthmus {

struct StoreGreeting {
  std::uint32_t protocol_version = 0;

  std::string encode() const;
  // corruption: not a greeting.
  static Result<StoreGreeting> decode(std::string_view bytes);
};

// Values are never renumbered.
enum class StoreCall : std::uint8_t { kSet = 1, kGet = 2, kContains = 3, kAdd = 4, kRemove = 5, kCancel = 6 };

struct StoreRequest {
  std::uint64_t id = 0;
  StoreCall call = StoreCall::kGet;
  std::string key, value;
  std::int64_t delta = 0;

  std::string encode() const;
  static Result<StoreRequest> decode(std::string_view bytes);
};

struct StoreAnswer {
  std::uint64_t id = 0;
  Status status;
  std::string value;
  std::int64_t number = 0;  // kAdd: the sum; kContains: 1 or 0

  std::string encode() const;
  static Result<StoreAnswer> decode(std::string_view bytes);
};

}  // namespace isthmus
