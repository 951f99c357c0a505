// The messages by which two adapters open a lane over UCX, and by which a receiver lets its sender go on.
// Little-endian.
//
// Threads: any thread. Decoders treat their input as hostile.
//
// The dialler sends a hello to the tag kHelloTag of the listening worker; the acceptor answers with a welcome to the
// dialler's control tag, and from then on both may send. Tags are chosen at random by the one who receives on them, so
// that a stranger cannot put a message into someone else's lane.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace isthmus {

// The two top bits of a tag say what it is for; the rest is the lane's.
inline constexpr std::uint64_t kTagKindMask = 3ull << 62;
inline constexpr std::uint64_t kDataTag = 1ull << 62;
inline constexpr std::uint64_t kControlTag = 2ull << 62;
inline constexpr std::uint64_t kHelloTag = 3ull << 62;

inline constexpr std::size_t kMaxHelloBytes = 512;

struct UcxHello {
  std::uint64_t lane_tag = 0;  // of the dialler, without a kind
  std::string greeting;
  std::string worker;  // UCX address of the dialler's worker
  std::string place;   // the dialler's end of the connection, "10.0.0.1:50001"; empty: unknown
};

std::string encode_hello(const UcxHello& hello);
// corruption: not a hello of this version, or a part of it is too long.
Result<UcxHello> decode_hello(ConstBytes bytes);

inline constexpr std::size_t kControlBytes = 16;

enum class UcxControlKind : std::uint8_t {
  kWelcome = 1,   // value: the acceptor's lane tag
  kConsumed = 2,  // value: how much of the lane's window has been freed since the lane is up
  kGoodbye = 3,   // the sender closed the lane
};

struct UcxControl {
  UcxControlKind kind = UcxControlKind::kWelcome;
  std::uint64_t value = 0;
};

std::string encode_control(const UcxControl& control);
Result<UcxControl> decode_control(ConstBytes bytes);

}  // namespace isthmus
