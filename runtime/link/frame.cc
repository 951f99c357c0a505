#include "runtime/link/frame.h"

namespace isthmus {
namespace {

// Byte offsets of the fields, as PROTOCOL.md lists them.
constexpr std::size_t kMagicAt = 0, kVersionAt = 4, kTypeAt = 5, kFlagsAt = 6, kSessionAt = 8, kEpochAt = 16,
                      kGenerationAt = 20, kSegmentAt = 24, kCommunicatorAt = 32, kSequenceAt = 40, kTagAt = 48,
                      kPairAt = 52, kRoundAt = 56, kCodecAt = 60, kDescriptorAt = 61, kReservedAt = 62, kOffsetAt = 64,
                      kTransferAt = 72, kRawAt = 80, kEncodedAt = 84, kSentAt = 88, kReserved2At = 92;
static_assert(kReserved2At + 4 == kFrameHeaderBytes);

Status check(const FrameHeader& h, std::size_t message_bytes) {
  if (h.codec != 0) return corruption("frame has unknown codec {}", h.codec);
  if (h.round >= kMaxRound) return corruption("frame has round {}, the limit is {}", h.round, kMaxRound);
  if (h.descriptor_bytes > kMaxDescriptorBytes)
    return corruption("frame has a descriptor of {} bytes, the limit is {}", h.descriptor_bytes, kMaxDescriptorBytes);
  if (kFrameHeaderBytes + h.descriptor_bytes + h.encoded_bytes != message_bytes)
    return corruption("frame of {} bytes announces {} + {} + {}", message_bytes, kFrameHeaderBytes, h.descriptor_bytes,
                      h.encoded_bytes);
  if (h.segment == 0) return corruption("frame has segment number 0");
  if (h.type == FrameType::kAck) return Status();
  if (h.type == FrameType::kCredit) {
    if (h.encoded_bytes != 0) return corruption("credit has a payload of {} bytes", h.encoded_bytes);
    return Status();
  }
  if (h.encoded_bytes != h.raw_bytes)
    return corruption("frame without codec has {} encoded and {} raw bytes", h.encoded_bytes, h.raw_bytes);
  if (h.offset > h.transfer_bytes || h.raw_bytes > h.transfer_bytes - h.offset)
    return corruption("segment [{}, +{}) lies outside its transfer of {} bytes", h.offset, h.raw_bytes,
                      h.transfer_bytes);
  return Status();
}

}  // namespace

void encode_frame_header(const FrameHeader& h, std::byte* to) {
  store_le<std::uint32_t>(to + kMagicAt, kFrameMagic);
  store_le<std::uint8_t>(to + kVersionAt, kFrameVersion);
  store_le<std::uint8_t>(to + kTypeAt, static_cast<std::uint8_t>(h.type));
  store_le<std::uint16_t>(to + kFlagsAt, 0);
  store_le<std::uint64_t>(to + kSessionAt, h.session);
  store_le<std::uint32_t>(to + kEpochAt, h.epoch);
  store_le<std::uint32_t>(to + kGenerationAt, h.key_generation);
  store_le<std::uint64_t>(to + kSegmentAt, h.segment);
  store_le<std::uint64_t>(to + kCommunicatorAt, h.operation.communicator);
  store_le<std::uint64_t>(to + kSequenceAt, h.operation.sequence);
  store_le<std::uint32_t>(to + kTagAt, h.operation.tag);
  store_le<std::uint32_t>(to + kPairAt, h.operation.pair);
  store_le<std::uint32_t>(to + kRoundAt, h.round);
  store_le<std::uint8_t>(to + kCodecAt, h.codec);
  store_le<std::uint8_t>(to + kDescriptorAt, h.descriptor_bytes);
  store_le<std::uint16_t>(to + kReservedAt, 0);
  store_le<std::uint64_t>(to + kOffsetAt, h.offset);
  store_le<std::uint64_t>(to + kTransferAt, h.transfer_bytes);
  store_le<std::uint32_t>(to + kRawAt, h.raw_bytes);
  store_le<std::uint32_t>(to + kEncodedAt, h.encoded_bytes);
  store_le<std::uint32_t>(to + kSentAt, h.sent_us);
  store_le<std::uint32_t>(to + kReserved2At, 0);
}

Result<FrameNumber> decode_frame_number(ConstBytes message) {
  const std::byte* from = message.data();
  const auto magic = load_le<std::uint32_t>(from + kMagicAt);
  if (magic != kFrameMagic) return corruption("frame starts with {:#010x}, not {:#010x}", magic, kFrameMagic);
  const auto version = load_le<std::uint8_t>(from + kVersionAt);
  if (version != kFrameVersion) return corruption("frame has version {}, this side speaks {}", version, kFrameVersion);
  const auto type = load_le<std::uint8_t>(from + kTypeAt);
  if (type < 1 || type > 3) return corruption("frame has unknown type {}", type);
  return FrameNumber{static_cast<FrameType>(type), load_le<std::uint32_t>(from + kGenerationAt),
                     load_le<std::uint64_t>(from + kSegmentAt)};
}

Result<Frame> decode_frame(ConstBytes message) {
  if (message.size() < kFrameHeaderBytes)
    return corruption("frame of {} bytes is shorter than its header of {}", message.size(), kFrameHeaderBytes);
  ISTHMUS_ASSIGN_OR_RETURN(const FrameNumber number, decode_frame_number(message));
  const std::byte* from = message.data();
  const auto flags = load_le<std::uint16_t>(from + kFlagsAt);
  const auto reserved = load_le<std::uint16_t>(from + kReservedAt) | load_le<std::uint32_t>(from + kReserved2At);
  if (flags != 0 || reserved != 0) return corruption("frame has reserved bits set ({:#x}, {:#x})", flags, reserved);

  Frame frame;
  FrameHeader& h = frame.header;
  h.type = number.type;
  h.session = load_le<std::uint64_t>(from + kSessionAt);
  h.epoch = load_le<std::uint32_t>(from + kEpochAt);
  h.key_generation = number.key_generation;
  h.segment = number.segment;
  h.operation.communicator = load_le<std::uint64_t>(from + kCommunicatorAt);
  h.operation.sequence = load_le<std::uint64_t>(from + kSequenceAt);
  h.operation.tag = load_le<std::uint32_t>(from + kTagAt);
  h.operation.pair = load_le<std::uint32_t>(from + kPairAt);
  h.round = load_le<std::uint32_t>(from + kRoundAt);
  h.codec = load_le<std::uint8_t>(from + kCodecAt);
  h.descriptor_bytes = load_le<std::uint8_t>(from + kDescriptorAt);
  h.offset = load_le<std::uint64_t>(from + kOffsetAt);
  h.transfer_bytes = load_le<std::uint64_t>(from + kTransferAt);
  h.raw_bytes = load_le<std::uint32_t>(from + kRawAt);
  h.encoded_bytes = load_le<std::uint32_t>(from + kEncodedAt);
  h.sent_us = load_le<std::uint32_t>(from + kSentAt);
  ISTHMUS_RETURN_IF_ERROR(check(h, message.size()));
  frame.descriptor = as_text(message.subspan(kFrameHeaderBytes, h.descriptor_bytes));
  frame.payload = message.subspan(kFrameHeaderBytes + h.descriptor_bytes);
  return frame;
}

}  // namespace isthmus
