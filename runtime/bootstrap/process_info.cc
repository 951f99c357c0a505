#include "runtime/bootstrap/process_info.h"

#include <random>

#include "runtime/base/bytes.h"

namespace isthmus {
namespace {

constexpr std::uint32_t kInfoMagic = 0x49505349;  // "ISPI"
constexpr std::uint32_t kMaxAddresses = 64;

void put_list(ByteWriter& writer, const std::vector<std::string>& list) {
  writer.put(static_cast<std::uint32_t>(list.size()));
  for (const std::string& text : list) writer.put_text(text);
}

bool get_list(ByteReader& reader, std::vector<std::string>* list) {
  const auto count = reader.get<std::uint32_t>();
  if (count > kMaxAddresses) return false;
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) list->emplace_back(reader.get_text());
  return reader.ok();
}

}  // namespace

std::string ProcessInfo::encode() const {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.put(kInfoMagic);
  writer.put(protocol_version);
  writer.put(process);
  writer.put_text(library_version);
  writer.put_text(host_id);
  writer.put_text(network_id);
  writer.put_text(host_name);
  writer.put_text(site);
  writer.put(pid);
  writer.put(static_cast<std::uint8_t>(security));
  writer.put(static_cast<std::uint8_t>(cipher));
  writer.put_text(transport);
  put_list(writer, candidate_hosts);
  put_list(writer, control_addresses);
  put_list(writer, data_addresses);
  return bytes;
}

Result<ProcessInfo> ProcessInfo::decode(std::string_view bytes) {
  ByteReader reader(as_bytes(bytes));
  ProcessInfo info;
  const bool ours = reader.get<std::uint32_t>() == kInfoMagic;
  info.protocol_version = reader.get<std::uint32_t>();
  info.process = reader.get<std::uint64_t>();
  info.library_version = reader.get_text();
  if (!ours || !reader.ok()) return corruption("{} bytes are no description of a process", bytes.size());
  if (info.protocol_version != kProtocolVersion) return info;
  info.host_id = reader.get_text();
  info.network_id = reader.get_text();
  info.host_name = reader.get_text();
  info.site = reader.get_text();
  info.pid = reader.get<std::uint32_t>();
  const auto security = reader.get<std::uint8_t>();
  const auto cipher = reader.get<std::uint8_t>();
  info.security = static_cast<SecurityLevel>(security);
  info.cipher = static_cast<CipherKind>(cipher);
  info.transport = reader.get_text();
  const bool whole = get_list(reader, &info.candidate_hosts) && get_list(reader, &info.control_addresses) &&
                     get_list(reader, &info.data_addresses);
  const bool known = security <= static_cast<std::uint8_t>(SecurityLevel::kFull) && cipher >= 1 && cipher <= 2;
  if (!whole || !known || !reader.at_end() || info.process == 0) {
    return corruption("the description of process {:016x} is malformed", info.process);
  }
  return info;
}

ProcessId make_process_id() {
  std::random_device device;
  ProcessId id = 0;
  while (id == 0) id = std::uint64_t{device()} << 32 | device();
  return id;
}

}  // namespace isthmus
