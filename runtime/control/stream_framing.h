// StreamFraming: control messages on a byte stream. Each direction begins with 8 bytes, "ISTHMUS" and the version of
// this framing; then follow messages, each as a u32 length and its bytes.
//
// Threads: one thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace isthmus {

inline constexpr std::string_view kFramingPreamble{"ISTHMUS\x01", 8};

class StreamFraming {
 public:
  // Outgoing bytes: the preamble, then whatever was appended.
  void append(std::string_view message);
  std::string_view outgoing() const { return std::string_view(out_).substr(out_begin_); }
  void sent(std::size_t bytes);

  // Incoming bytes, cut anywhere.
  void received(std::string_view bytes) { in_.append(bytes); }
  // Takes the next whole message. corruption: the bytes are not ours. unsupported: another version of the framing.
  // invalid_argument: the peer speaks TLS.
  Result<bool> next(std::string* message);

 private:
  Result<bool> take_preamble();

  std::string out_{kFramingPreamble}, in_;
  std::size_t out_begin_ = 0, in_begin_ = 0;
  bool preamble_taken_ = false;
};

}  // namespace isthmus
