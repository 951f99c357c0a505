#include "runtime/bootstrap/mesh_message.h"

#include "runtime/base/bytes.h"
#include "runtime/bootstrap/process_info.h"

namespace isthmus {
namespace {

constexpr std::uint32_t kMagic = 0x4d485349;  // "ISHM" on the wire

}  // namespace

std::string encode_mesh_message(const MeshMessage& message) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.put(kMagic);
  writer.put(message.version != 0 ? message.version : kProtocolVersion);
  writer.put(static_cast<std::uint8_t>(message.kind));
  writer.put_text(message.text);
  writer.put(message.process);
  writer.put(message.number);
  writer.put(message.subject);
  return bytes;
}

Result<MeshMessage> decode_mesh_message(std::string_view bytes) {
  ByteReader reader(as_bytes(bytes));
  MeshMessage message;
  const auto magic = reader.get<std::uint32_t>();
  message.version = reader.get<std::uint32_t>();
  const auto kind = reader.get<std::uint8_t>();
  if (!reader.ok() || magic != kMagic) return corruption("control message of {} bytes is not ours", bytes.size());
  if (kind < 1 || kind > static_cast<std::uint8_t>(MeshMessageKind::kAlive))
    return corruption("control message of unknown kind {}", kind);
  message.kind = static_cast<MeshMessageKind>(kind);
  message.text = reader.get_text();
  if (message.version != kProtocolVersion) return message;
  message.process = reader.get<std::uint64_t>();
  message.number = reader.get<std::uint64_t>();
  message.subject = reader.get<std::uint64_t>();
  if (!reader.at_end()) return corruption("control message of {} bytes and kind {} is malformed", bytes.size(), kind);
  return message;
}

}  // namespace isthmus
