// Frame: the bytes on a lane, version 1. PROTOCOL.md is the specification; this file is its only reader and writer.
//
// Threads: pure functions. The decoder treats its input as hostile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/link/channel.h"

namespace isthmus {

inline constexpr std::uint32_t kFrameMagic = 0x54534949;  // "IIST" on the wire
inline constexpr std::uint8_t kFrameVersion = 1;
inline constexpr std::size_t kFrameHeaderBytes = 96;
inline constexpr std::uint32_t kMaxRound = 1u << 24;

enum class FrameType : std::uint8_t {
  kData = 1,    // a segment of a transfer
  kCredit = 2,  // the operation is open at the sender of this frame, which takes `offset` bytes of it in all
  kAck = 3,     // which segments arrived
};

struct FrameHeader {
  FrameType type = FrameType::kData;
  std::uint64_t session = 0;         // one incarnation of the link
  std::uint32_t epoch = 0;           // membership of the world
  std::uint32_t key_generation = 0;  // 0: not sealed; otherwise it follows from the segment's number
  std::uint64_t segment = 0;         // number of this segment on the link, from 1; acknowledgements count apart
  OperationKey operation;
  std::uint32_t round = 0;
  std::uint8_t codec = 0;             // 0: none
  std::uint8_t descriptor_bytes = 0;  // kData: length of the descriptor between header and payload
  std::uint64_t offset = 0;           // kData: of the payload in its transfer; kCredit: bytes granted in all
  std::uint64_t transfer_bytes = 0;   // kData: raw length of the whole transfer
  std::uint32_t raw_bytes = 0;        // kData: length of the payload before encoding
  std::uint32_t encoded_bytes = 0;    // length of the payload that follows
  std::uint32_t sent_us = 0;          // the sender's clock when the segment was first sent, modulo 2^32
};

// Writes exactly kFrameHeaderBytes.
void encode_frame_header(const FrameHeader& header, std::byte* to);

struct Frame {
  FrameHeader header;
  std::string_view descriptor;  // into the message
  ConstBytes payload;           // into the message
};

// `message`: header, descriptor and payload, opened, without its trailer (frame_seal.h). Checks everything that can be
// checked without state. corruption: names the field and its value.
Result<Frame> decode_frame(ConstBytes message);

// What a seal is bound to; read before the frame is known to be the peer's. `message` holds a whole header.
struct FrameNumber {
  FrameType type = FrameType::kData;
  std::uint32_t key_generation = 0;
  std::uint64_t segment = 0;
};
Result<FrameNumber> decode_frame_number(ConstBytes message);

}  // namespace isthmus
