#include "runtime/link/greeting.h"

#include <algorithm>

#include "runtime/base/bytes.h"
#include "runtime/link/frame.h"
#include "runtime/transport/transport.h"

namespace isthmus {
namespace {

constexpr std::size_t kPlainBytes = 4 + 2 + 2 + 8 + 8 + 8 + 4 + 4 + 4;
constexpr std::size_t kGreetingBytes = kPlainBytes + LinkCipher::kMacBytes;
static_assert(kGreetingBytes <= kMaxGreetingBytes);

}  // namespace

std::string encode_greeting(const LaneGreeting& greeting, const std::optional<LinkKeys>& keys) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.put(kFrameMagic);
  writer.put<std::uint16_t>(kFrameVersion);
  writer.put<std::uint16_t>(0);
  writer.put(greeting.from);
  writer.put(greeting.to);
  writer.put(greeting.session);
  writer.put(greeting.epoch);
  writer.put(greeting.serial);
  writer.put(greeting.first_kept);
  std::array<std::byte, LinkCipher::kMacBytes> code{};
  if (keys) code = greeting_mac(keys->secret, greeting.from, greeting.to, as_bytes(bytes));
  bytes.append(as_text(code));
  return bytes;
}

Result<ReceivedGreeting> decode_greeting(std::string_view bytes) {
  ByteReader reader(as_bytes(bytes));
  const auto magic = reader.get<std::uint32_t>();
  const auto version = reader.get<std::uint16_t>();
  if (!reader.ok() || magic != kFrameMagic) return corruption("lane greeting of {} bytes is not ours", bytes.size());
  if (version != kFrameVersion)
    return unsupported("peer speaks version {} of the link protocol, this side {}", version, kFrameVersion);
  ReceivedGreeting received;
  LaneGreeting& greeting = received.greeting;
  const auto reserved = reader.get<std::uint16_t>();
  greeting.from = reader.get<std::uint64_t>();
  greeting.to = reader.get<std::uint64_t>();
  greeting.session = reader.get<std::uint64_t>();
  greeting.epoch = reader.get<std::uint32_t>();
  greeting.serial = reader.get<std::uint32_t>();
  greeting.first_kept = reader.get<std::uint32_t>();
  if (!reader.ok() || bytes.size() != kGreetingBytes || reserved != 0 || greeting.from == 0 || greeting.session == 0 ||
      greeting.serial == 0 || greeting.serial < greeting.first_kept)
    return corruption("lane greeting of {} bytes is malformed", bytes.size());
  received.bytes = bytes;
  return received;
}

Status ReceivedGreeting::authenticate(const std::optional<LinkKeys>& keys) const {
  const ConstBytes plain = as_bytes(bytes).first(kPlainBytes), code = as_bytes(bytes).subspan(kPlainBytes);
  if (!keys) {
    if (std::all_of(code.begin(), code.end(), [](std::byte b) { return b == std::byte{0}; })) return Status();
    return corruption("the peer's lane is sealed, this link is not");
  }
  if (check_greeting_mac(keys->secret, greeting.from, greeting.to, plain, code)) return Status();
  return corruption("lane greeting is not authentic");
}

}  // namespace isthmus
