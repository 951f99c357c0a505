#include "runtime/security/job_secret.h"

#include <algorithm>

#include "runtime/security/key_derivation.h"

namespace isthmus {
namespace {

constexpr std::string_view kPrefix = "isthmus_1_";
constexpr std::size_t kGeneratedBytes = 32, kChecksumBytes = 4;
constexpr std::string_view kHowToMakeOne = "make one with `isthmus secret new`";

void append_hex(ConstBytes bytes, std::string* text) {
  for (const std::byte byte : bytes) *text += fmt::format("{:02x}", static_cast<unsigned>(byte));
}

int digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

// Whether `text` is exactly the hexadecimal digits of `to`.
bool read_hex(std::string_view text, MutableBytes to) {
  if (text.size() != 2 * to.size()) return false;
  for (std::size_t i = 0; i < to.size(); ++i) {
    const int high = digit_value(text[2 * i]), low = digit_value(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    to[i] = static_cast<std::byte>(high << 4 | low);
  }
  return true;
}

}  // namespace

JobSecret::~JobSecret() { erase_secret(bytes_); }

Result<JobSecret> JobSecret::generate() {
  JobSecret secret;
  secret.size_ = kGeneratedBytes;
  ISTHMUS_RETURN_IF_ERROR(random_bytes(MutableBytes(secret.bytes_).first(secret.size_)));
  return secret;
}

Result<JobSecret> JobSecret::parse(std::string_view text) {
  const bool has_prefix = text.starts_with(kPrefix);
  const std::size_t mark = text.rfind('_');
  if (!has_prefix || mark < kPrefix.size()) {
    return invalid_argument("the job secret is not one (it begins with \"{}\"; a password will not do): {}", kPrefix,
                            kHowToMakeOne);
  }
  const std::string_view digits = text.substr(kPrefix.size(), mark - kPrefix.size());
  JobSecret secret;
  secret.size_ = digits.size() / 2;
  if (secret.size_ < kMinBytes || secret.size_ > kMaxBytes) {
    return invalid_argument("the job secret has {} bits, {} to {} are allowed: {}", 8 * secret.size_, 8 * kMinBytes,
                            8 * kMaxBytes, kHowToMakeOne);
  }
  std::array<std::byte, kChecksumBytes> expected, found;
  const bool well_formed =
      read_hex(digits, MutableBytes(secret.bytes_).first(secret.size_)) && read_hex(text.substr(mark + 1), found);
  ISTHMUS_RETURN_IF_ERROR(secret.derive("checksum", {}, expected));
  if (well_formed && equal_in_constant_time(expected, found)) return secret;
  return invalid_argument("the job secret is mistyped or cut off: its checksum does not hold");
}

std::string JobSecret::text() const {
  std::string text(kPrefix);
  append_hex(bytes(), &text);
  std::array<std::byte, kChecksumBytes> checksum{};
  (void)derive("checksum", {}, checksum);  // OpenSSL out of memory: parse() will say that the checksum does not hold
  text += '_';
  append_hex(checksum, &text);
  return text;
}

Status JobSecret::derive(std::string_view purpose, ConstBytes salt, MutableBytes out) const {
  return hkdf_sha256(bytes(), salt, fmt::format("isthmus job 1 {}", purpose), out);
}

}  // namespace isthmus
