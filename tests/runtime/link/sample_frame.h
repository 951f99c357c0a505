// The frame of PROTOCOL.md's golden bytes.
#pragma once

#include "runtime/link/frame.h"

namespace isthmus {

inline FrameHeader sample_header(std::uint64_t segment = 7) {
  FrameHeader h;
  h.type = FrameType::kData;
  h.session = 0x0102030405060708;
  h.epoch = 1;
  h.segment = segment;
  h.operation = {0x1112131415161718, 9, 2, 3};
  h.round = 5;
  h.descriptor_bytes = 2;
  h.offset = 4;
  h.transfer_bytes = 7;
  h.raw_bytes = h.encoded_bytes = 3;
  h.sent_us = 0x12345678;
  return h;
}

}  // namespace isthmus
