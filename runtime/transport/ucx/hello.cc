#include "runtime/transport/ucx/hello.h"

#include "runtime/transport/transport.h"
#include "runtime/transport/ucx/address.h"

namespace isthmus {
namespace {

constexpr std::uint32_t kMagic = 0x58554953;  // "SIUX"
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kMaxPlaceBytes = 64;

void put_head(ByteWriter* writer, std::uint16_t kind) {
  writer->put(kMagic);
  writer->put(kVersion);
  writer->put(kind);
}

// The kind; corruption: another program, or another version of this one.
Result<std::uint16_t> take_head(ByteReader* reader) {
  const auto magic = reader->get<std::uint32_t>();
  const auto version = reader->get<std::uint16_t>();
  const auto kind = reader->get<std::uint16_t>();
  if (!reader->ok() || magic != kMagic) return corruption("not a message of this transport");
  if (version != kVersion) return corruption("the peer's UCX lanes have version {}, ours {}", version, kVersion);
  return kind;
}

}  // namespace

std::string encode_hello(const UcxHello& hello) {
  std::string bytes;
  ByteWriter writer(&bytes);
  put_head(&writer, 0);
  writer.put(hello.lane_tag);
  writer.put_text(hello.greeting);
  writer.put_text(hello.worker);
  writer.put_text(hello.place);
  return bytes;
}

Result<UcxHello> decode_hello(ConstBytes bytes) {
  ByteReader reader(bytes);
  ISTHMUS_ASSIGN_OR_RETURN(const std::uint16_t kind, take_head(&reader));
  UcxHello hello;
  hello.lane_tag = reader.get<std::uint64_t>();
  hello.greeting = reader.get_text();
  hello.worker = reader.get_text();
  hello.place = reader.get_text();
  const bool fits = hello.greeting.size() <= kMaxGreetingBytes && hello.place.size() <= kMaxPlaceBytes &&
                    !hello.worker.empty() && hello.worker.size() <= kMaxWorkerAddressBytes;
  if (kind != 0 || !reader.at_end() || !fits || (hello.lane_tag & kTagKindMask) != 0) {
    return corruption("a broken hello of {} bytes", bytes.size());
  }
  return hello;
}

std::string encode_control(const UcxControl& control) {
  std::string bytes;
  ByteWriter writer(&bytes);
  put_head(&writer, static_cast<std::uint16_t>(control.kind));
  writer.put(control.value);
  return bytes;
}

Result<UcxControl> decode_control(ConstBytes bytes) {
  ByteReader reader(bytes);
  ISTHMUS_ASSIGN_OR_RETURN(const std::uint16_t kind, take_head(&reader));
  UcxControl control{static_cast<UcxControlKind>(kind), reader.get<std::uint64_t>()};
  const bool is_known = kind >= static_cast<std::uint16_t>(UcxControlKind::kWelcome) &&
                        kind <= static_cast<std::uint16_t>(UcxControlKind::kGoodbye);
  if (!is_known || !reader.at_end()) return corruption("a broken control message of {} bytes", bytes.size());
  return control;
}

}  // namespace isthmus
