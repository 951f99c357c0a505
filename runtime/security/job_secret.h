// JobSecret: the random bytes that all processes of a job share, and that nobody else knows. Every key comes from it.
//
// As text: "isthmus_1_", the bytes in hexadecimal, "_" and a checksum of 8 hexadecimal digits, so that a typing error
// is found. A secret has at least 128 bits: whoever records a handshake may try secrets against it at leisure, so it
// must not be a password.
//
// Threads: values. The bytes are erased with the object; errors never quote the text.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace isthmus {

class JobSecret {
 public:
  static constexpr std::size_t kMinBytes = 16, kMaxBytes = 64;

  static Result<JobSecret> generate();  // 32 random bytes
  // invalid_argument: not a secret, mistyped, or too short; says how to make one.
  static Result<JobSecret> parse(std::string_view text);

  JobSecret(const JobSecret&) = default;
  JobSecret& operator=(const JobSecret&) = default;
  ~JobSecret();

  std::string text() const;

  // Fills `out` with a key for one purpose; `salt` may be empty.
  Status derive(std::string_view purpose, ConstBytes salt, MutableBytes out) const;

 private:
  JobSecret() = default;
  ConstBytes bytes() const { return ConstBytes(bytes_).first(size_); }

  std::array<std::byte, kMaxBytes> bytes_{};
  std::size_t size_ = 0;
};

}  // namespace isthmus
