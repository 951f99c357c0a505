#include "runtime/control/stream_framing.h"

#include <algorithm>

#include "runtime/control/control_stream.h"

namespace isthmus {
namespace {

// Drops what is used up, but moves the rest only when that is the smaller part.
void drop_used(std::string* buffer, std::size_t* begin) {
  if (*begin < buffer->size() - *begin) return;
  buffer->erase(0, *begin);
  *begin = 0;
}

std::string printable(std::string_view bytes) {
  std::string text;
  for (unsigned char c : bytes.substr(0, 16)) {
    text += c >= 0x20 && c < 0x7f ? std::string(1, static_cast<char>(c)) : fmt::format("\\x{:02x}", c);
  }
  return text;
}

}  // namespace

void StreamFraming::append(std::string_view message) { ByteWriter(&out_).put_text(message); }

void StreamFraming::sent(std::size_t bytes) {
  out_begin_ += bytes;
  drop_used(&out_, &out_begin_);
}

Result<bool> StreamFraming::take_preamble() {
  const std::size_t version_at = kFramingPreamble.size() - 1;
  const std::string_view name = std::string_view(in_).substr(0, version_at);
  if (name.starts_with('\x15') || name.starts_with('\x16')) {  // an alert or a handshake of TLS
    return invalid_argument("authentication failed: the peer has a job secret, this process uses none");
  }
  if (!kFramingPreamble.starts_with(name)) {
    return corruption("the peer is no Isthmus process: it began with \"{}\"", printable(in_));
  }
  if (in_.size() <= version_at) return false;
  if (in_[version_at] != kFramingPreamble[version_at]) {
    return unsupported("the peer speaks version {} of the control framing, this process version {}",
                       static_cast<int>(static_cast<unsigned char>(in_[version_at])),
                       static_cast<int>(kFramingPreamble[version_at]));
  }
  in_begin_ = kFramingPreamble.size();
  preamble_taken_ = true;
  return true;
}

Result<bool> StreamFraming::next(std::string* message) {
  if (!preamble_taken_) {
    ISTHMUS_ASSIGN_OR_RETURN(const bool taken, take_preamble());
    if (!taken) return false;
  }
  const std::string_view rest = std::string_view(in_).substr(in_begin_);
  if (rest.size() < sizeof(std::uint32_t)) return false;
  const std::size_t length = load_le<std::uint32_t>(as_bytes(rest).data());
  if (length > kMaxControlMessageBytes) {
    return corruption("a control message of {} bytes was announced; at most {} are allowed", length,
                      kMaxControlMessageBytes);
  }
  if (rest.size() - sizeof(std::uint32_t) < length) return false;
  message->assign(rest.substr(sizeof(std::uint32_t), length));
  in_begin_ += sizeof(std::uint32_t) + length;
  drop_used(&in_, &in_begin_);
  return true;
}

}  // namespace isthmus
