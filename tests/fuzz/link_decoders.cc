// What comes over lanes: greetings (before anything is known of the peer), frames and acknowledgements.
#include "runtime/link/frame.h"
#include "runtime/link/frame_seal.h"
#include "runtime/link/greeting.h"
#include "runtime/link/receive_window.h"
#include "tests/fuzz/decoders.h"

namespace isthmus::fuzz {
namespace {

std::string run_greeting(std::string_view bytes) {
  const auto decoded = decode_greeting(bytes);
  if (!decoded.ok()) return decoded.status().message().empty() ? "an error without a message" : "";
  if (!decoded->authenticate(std::nullopt).ok()) return {};
  return encode_greeting(decoded->greeting, std::nullopt) == bytes ? "" : "it reads as one that is written otherwise";
}

std::vector<std::string> valid_greetings() {
  return {encode_greeting({5, 9, 77, 1, 3, 2}, std::nullopt), encode_greeting({5, 9, 77, 1, 3, 2}, LinkKeys{})};
}

std::string run_frame(std::string_view bytes) {
  const Result<Frame> frame = decode_frame(as_bytes(bytes));
  if (!frame.ok()) return frame.status().message().empty() ? "an error without a message" : "";
  const FrameHeader& h = frame->header;
  if (frame->descriptor.size() + frame->payload.size() + kFrameHeaderBytes != bytes.size())
    return "its parts are not the whole";
  if (h.type == FrameType::kData && (h.offset > h.transfer_bytes || h.raw_bytes > h.transfer_bytes - h.offset))
    return "a segment outside its transfer";
  return {};
}

std::vector<std::string> valid_frames() {
  FrameHeader header;
  header.session = 77;
  header.segment = 1;
  header.operation = {1, 2, 0, 0};
  header.transfer_bytes = 7;
  header.raw_bytes = header.encoded_bytes = 3;
  std::string data(kFrameHeaderBytes, '\0'), credit = data;
  encode_frame_header(header, reinterpret_cast<std::byte*>(data.data()));
  header.type = FrameType::kCredit;
  header.raw_bytes = header.encoded_bytes = 0;
  encode_frame_header(header, reinterpret_cast<std::byte*>(credit.data()));
  return {data + "abc", credit};
}

std::string run_acknowledgement(std::string_view bytes) {
  const Result<Acknowledgement> ack = decode_acknowledgement(as_bytes(bytes));
  if (!ack.ok()) return ack.status().message().empty() ? "an error without a message" : "";
  return encode_acknowledgement(*ack) == bytes ? "" : "it reads as one that is written otherwise";
}

std::vector<std::string> valid_acknowledgements() {
  return {encode_acknowledgement({}), encode_acknowledgement({4, {{6, 7}, {9, 9}}, {{1, 2}, {3, 4}}})};
}

std::vector<std::string> valid_sealed() {
  std::string message = valid_frames().front() + std::string(FrameSeal::kChecksumBytes, '\0');
  FrameHeader header = decode_frame(as_bytes(valid_frames().front()))->header;
  (void)FrameSeal(nullptr).seal(header, std::as_writable_bytes(std::span(message)));
  return {message};
}

// Whatever was changed, nothing opens but what was sealed.
std::string run_seal(std::string_view bytes) {
  const std::string whole = valid_sealed().front();
  std::string message(bytes);
  const Result<ConstBytes> frame = FrameSeal(nullptr).open(std::as_writable_bytes(std::span(message)));
  if (frame.ok() == (bytes == whole)) return {};
  return frame.ok() ? "a changed frame opens" : "a whole frame does not open";
}

constexpr Decoder kDecoders[] = {
    {"lane_greeting", run_greeting, valid_greetings},
    {"frame", run_frame, valid_frames},
    {"acknowledgement", run_acknowledgement, valid_acknowledgements},
    {"frame_seal", run_seal, valid_sealed},
};

}  // namespace

std::span<const Decoder> link_decoders() { return kDecoders; }

}  // namespace isthmus::fuzz
