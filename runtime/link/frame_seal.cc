#include "runtime/link/frame_seal.h"

#include <xxhash.h>

namespace isthmus {
namespace {

LinkCipher::Numbering numbering_of(FrameType type) {
  return type == FrameType::kAck ? LinkCipher::Numbering::kAcknowledgement : LinkCipher::Numbering::kSegment;
}

}  // namespace

Status FrameSeal::seal(FrameHeader header, MutableBytes message) {
  header.key_generation = cipher_ ? LinkCipher::generation_of(header.segment) : 0;
  encode_frame_header(header, message.data());
  const std::size_t end = message.size() - trailer_bytes();
  if (!cipher_) {
    store_le<std::uint64_t>(message.data() + end, XXH3_64bits(message.data(), end));
    return Status();
  }
  return cipher_->seal(numbering_of(header.type), header.segment, message.first(kFrameHeaderBytes),
                       message.subspan(kFrameHeaderBytes, end - kFrameHeaderBytes), message.data() + end);
}

Result<ConstBytes> FrameSeal::open(MutableBytes message) {
  if (message.size() < kFrameHeaderBytes + trailer_bytes())
    return corruption("frame of {} bytes is shorter than {} + {}", message.size(), kFrameHeaderBytes, trailer_bytes());
  const std::size_t end = message.size() - trailer_bytes();
  const ConstBytes frame = message.first(end);
  if (!cipher_) {
    if (load_le<std::uint64_t>(message.data() + end) != XXH3_64bits(frame.data(), frame.size()))
      return corruption("frame of {} bytes does not match its checksum", message.size());
    return frame;
  }
  ISTHMUS_ASSIGN_OR_RETURN(const FrameNumber number, decode_frame_number(frame));
  if (number.key_generation != LinkCipher::generation_of(number.segment))
    return corruption("frame {} has key generation {}, not {}", number.segment, number.key_generation,
                      LinkCipher::generation_of(number.segment));
  ISTHMUS_RETURN_IF_ERROR(cipher_->open(numbering_of(number.type), number.segment, frame.first(kFrameHeaderBytes),
                                        message.subspan(kFrameHeaderBytes, end - kFrameHeaderBytes),
                                        message.data() + end));
  return frame;
}

}  // namespace isthmus
