#include "runtime/engine/group_message.h"

#include "runtime/base/bytes.h"

namespace isthmus {

std::string encode_group_message(const GroupMessage& message) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.put(static_cast<std::uint8_t>(message.kind));
  writer.put(message.group);
  writer.put(message.process);
  writer.put(static_cast<std::uint8_t>(message.status.code()));
  writer.put_text(message.status.message());
  return bytes;
}

Result<GroupMessage> decode_group_message(std::string_view bytes) {
  ByteReader reader(as_bytes(bytes));
  GroupMessage message;
  const auto kind = reader.get<std::uint8_t>();
  message.group = reader.get<std::uint64_t>();
  message.process = reader.get<std::uint64_t>();
  const auto code = reader.get<std::uint8_t>();
  const std::string_view text = reader.get_text();
  if (!reader.at_end() || kind < 1 || kind > 4 || code > static_cast<std::uint8_t>(StatusCode::kInternal))
    return corruption("group message of {} bytes and kind {} is malformed", bytes.size(), kind);
  message.kind = static_cast<GroupMessageKind>(kind);
  if (code != 0) message.status = Status(static_cast<StatusCode>(code), std::string(text));
  return message;
}

}  // namespace isthmus
