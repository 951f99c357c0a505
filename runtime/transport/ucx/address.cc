#include "runtime/transport/ucx/address.h"

#include <cstdint>

namespace isthmus {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string to_base64url(std::string_view bytes) {
  std::string text;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6; count -= 6) text += kLetters[bits >> (count - 6) & 63];
  }
  if (count > 0) text += kLetters[bits << (6 - count) & 63];
  return text;
}

// Empty: a letter that is none, or bits left over that are not 0.
std::string from_base64url(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char letter : text) {
    const std::size_t value = kLetters.find(letter);
    if (value == std::string_view::npos) return {};
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xff);
    }
  }
  return (bits & ((1u << count) - 1)) == 0 ? bytes : std::string();
}

}  // namespace

std::string UcxAddress::text() const { return place.text() + "/" + to_base64url(worker); }

Result<UcxAddress> UcxAddress::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto place = SocketAddress::parse(text.substr(0, slash));
  UcxAddress address;
  if (place.ok() && slash != std::string_view::npos) {
    address.place = *place;
    address.worker = from_base64url(text.substr(slash + 1));
  }
  if (address.worker.empty() || address.worker.size() > kMaxWorkerAddressBytes) {
    return invalid_argument("\"{}\" is not an address of the form 10.0.0.1:4001/WORKER", text);
  }
  return address;
}

}  // namespace isthmus
