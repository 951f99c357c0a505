#include "runtime/bootstrap/store_protocol.h"

#include "runtime/base/bytes.h"

namespace isthmus {
namespace {

constexpr std::uint32_t kGreetingMagic = 0x52545349;  // "ISTR"

}  // namespace

std::string StoreGreeting::encode() const {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.put(kGreetingMagic);
  writer.put(protocol_version);
  return bytes;
}

Result<StoreGreeting> StoreGreeting::decode(std::string_view bytes) {
  ByteReader reader(as_bytes(bytes));
  const bool ours = reader.get<std::uint32_t>() == kGreetingMagic;
  StoreGreeting greeting{reader.get<std::uint32_t>()};
  if (!ours || !reader.ok()) return corruption("the peer speaks no rendezvous protocol of Isthmus");
  return greeting;
}

std::string StoreRequest::encode() const {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.put(id);
  writer.put(static_cast<std::uint8_t>(call));
  writer.put_text(key);
  writer.put_text(value);
  writer.put(static_cast<std::uint64_t>(delta));
  return bytes;
}

Result<StoreRequest> StoreRequest::decode(std::string_view bytes) {
  ByteReader reader(as_bytes(bytes));
  StoreRequest request;
  request.id = reader.get<std::uint64_t>();
  const auto call = reader.get<std::uint8_t>();
  request.key = reader.get_text();
  request.value = reader.get_text();
  request.delta = static_cast<std::int64_t>(reader.get<std::uint64_t>());
  if (!reader.at_end() || call < 1 || call > static_cast<std::uint8_t>(StoreCall::kCancel)) {
    return corruption("a malformed store request of {} bytes (call {})", bytes.size(), call);
  }
  request.call = static_cast<StoreCall>(call);
  return request;
}

std::string StoreAnswer::encode() const {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.put(id);
  writer.put(static_cast<std::uint8_t>(status.code()));
  writer.put_text(status.ok() ? value : status.message());
  writer.put(static_cast<std::uint64_t>(number));
  return bytes;
}

Result<StoreAnswer> StoreAnswer::decode(std::string_view bytes) {
  ByteReader reader(as_bytes(bytes));
  StoreAnswer answer;
  answer.id = reader.get<std::uint64_t>();
  const auto code = reader.get<std::uint8_t>();
  std::string text(reader.get_text());
  answer.number = static_cast<std::int64_t>(reader.get<std::uint64_t>());
  if (!reader.at_end() || code > static_cast<std::uint8_t>(StatusCode::kInternal)) {
    return corruption("a malformed store answer of {} bytes (code {})", bytes.size(), code);
  }
  if (code != 0) {
    answer.status = Status(static_cast<StatusCode>(code), std::move(text));
  } else {
    answer.value = std::move(text);
  }
  return answer;
}

}  // namespace isthmus
