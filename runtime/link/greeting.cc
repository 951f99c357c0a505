#include "runtime/link/greeting.h"

#include "runtime/base/bytes.h"
#include "runtime/link/frame.h"
#include "runtime/transport/transport.h"

namespace isthmus {
namespace {
constexpr std::size_t kGreetingBytes = 4 + 2 + 2 + 8 + 8 + 8 + 4;
static_assert(kGreetingBytes <= kMaxGreetingBytes);
}  // namespace

std::string encode_greeting(const LaneGreeting& greeting) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.put(kFrameMagic);
  writer.put<std::uint16_t>(kFrameVersion);
  writer.put(greeting.lane);
  writer.put(greeting.from);
  writer.put(greeting.to);
  writer.put(greeting.session);
  writer.put(greeting.epoch);
  return bytes;
}

Result<LaneGreeting> decode_greeting(std::string_view bytes) {
  ByteReader reader(as_bytes(bytes));
  const auto magic = reader.get<std::uint32_t>();
  const auto version = reader.get<std::uint16_t>();
  if (!reader.ok() || magic != kFrameMagic) return corruption("lane greeting of {} bytes is not ours", bytes.size());
  if (version != kFrameVersion)
    return unsupported("peer speaks version {} of the link protocol, this side {}", version, kFrameVersion);
  LaneGreeting greeting;
  greeting.lane = reader.get<std::uint16_t>();
  greeting.from = reader.get<std::uint64_t>();
  greeting.to = reader.get<std::uint64_t>();
  greeting.session = reader.get<std::uint64_t>();
  greeting.epoch = reader.get<std::uint32_t>();
  if (!reader.at_end() || greeting.from == 0 || greeting.session == 0)
    return corruption("lane greeting of {} bytes is malformed", bytes.size());
  return greeting;
}

}  // namespace isthmus
