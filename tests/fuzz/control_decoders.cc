#include "tests/fuzz/decoders.h"

#include <array>

#include "runtime/bootstrap/mesh_message.h"
#include "runtime/bootstrap/process_info.h"
#include "runtime/bootstrap/store_protocol.h"
#include "runtime/control/control_stream.h"
#include "runtime/control/stream_framing.h"

namespace isthmus::fuzz {
namespace {

// What is decoded must be encoded as the same bytes: nothing is ignored, and nothing has two spellings.
template <typename Message>
std::string compare(std::string_view bytes, const Result<Message>& decoded, std::string (*encode)(const Message&)) {
  if (!decoded.ok() && decoded.status().message().empty()) return "an error without a message";
  if (!decoded.ok() || encode(*decoded) == bytes) return {};
  return "it reads as a message that is written otherwise";
}

std::string run_mesh_message(std::string_view bytes) {
  const Result<MeshMessage> decoded = decode_mesh_message(bytes);
  if (decoded.ok() && (*decoded).version != kProtocolVersion) return {};  // whatever a later version writes
  return compare<MeshMessage>(bytes, decoded, encode_mesh_message);
}

std::vector<std::string> valid_mesh_messages() {
  std::vector<std::string> all;
  for (int kind = 1; kind <= static_cast<int>(MeshMessageKind::kAlive); ++kind) {
    MeshMessage message;
    message.kind = static_cast<MeshMessageKind>(kind);
    message.process = 0x1122334455667788;
    message.number = 3;
    message.text = kind % 2 == 0 ? "text" : "";
    all.push_back(encode_mesh_message(message));
  }
  return all;
}

std::string run_process_info(std::string_view bytes) {
  const Result<ProcessInfo> decoded = ProcessInfo::decode(bytes);
  if (decoded.ok() && decoded->protocol_version != kProtocolVersion) return {};
  return compare<ProcessInfo>(bytes, decoded, [](const ProcessInfo& info) { return info.encode(); });
}

std::vector<std::string> valid_process_infos() {
  ProcessInfo info;
  info.process = 7;
  info.library_version = "0.1.0";
  info.host_id = info.network_id = info.host_name = "host";
  info.site = "oslo";
  info.transport = "libfabric";
  info.candidate_hosts = {"10.0.0.1", "10.0.0.2"};
  info.control_addresses = {"10.0.0.1:40000"};
  info.data_addresses = {"fi:10.0.0.1:40001"};
  return {info.encode(), ProcessInfo{.process = 1}.encode()};
}

std::string run_store_request(std::string_view bytes) {
  return compare<StoreRequest>(bytes, StoreRequest::decode(bytes), [](const StoreRequest& m) { return m.encode(); });
}

std::vector<std::string> valid_store_requests() {
  return {StoreRequest{1, StoreCall::kSet, "key", "value", 0}.encode(),
          StoreRequest{2, StoreCall::kAdd, "count", "", -1}.encode()};
}

std::string run_store_answer(std::string_view bytes) {
  return compare<StoreAnswer>(bytes, StoreAnswer::decode(bytes), [](const StoreAnswer& m) { return m.encode(); });
}

std::vector<std::string> valid_store_answers() {
  return {StoreAnswer{1, Status(), "value", 0}.encode(), StoreAnswer{2, unavailable("gone"), "", 5}.encode()};
}

std::string run_store_greeting(std::string_view bytes) {
  (void)StoreGreeting::decode(bytes);  // what follows in a later version is not looked at
  return {};
}

std::vector<std::string> valid_store_greetings() { return {StoreGreeting{kProtocolVersion}.encode()}; }

// However the bytes are cut, the same messages come out, and none is longer than allowed.
std::string run_framing(std::string_view bytes) {
  std::array<std::vector<std::string>, 2> messages;
  std::array<StatusCode, 2> ends{};
  for (const std::size_t piece : {std::size_t{1}, bytes.size() + 1}) {
    const std::size_t way = piece == 1 ? 0 : 1;
    StreamFraming framing;
    std::string message;
    for (std::size_t at = 0; at < bytes.size() && ends[way] == StatusCode::kOk; at += piece) {
      framing.received(bytes.substr(at, piece));
      Result<bool> taken = framing.next(&message);
      for (; taken.ok() && *taken; taken = framing.next(&message)) messages[way].push_back(message);
      ends[way] = taken.status().code();
    }
  }
  for (const std::string& message : messages[0])
    if (message.size() > kMaxControlMessageBytes) return "a message is too long";
  return messages[0] == messages[1] && ends[0] == ends[1] ? "" : "the cut makes a difference";
}

std::vector<std::string> valid_framings() {
  StreamFraming framing;
  framing.append("one");
  framing.append("");
  framing.append(std::string(300, 'x'));
  return {std::string(framing.outgoing()), std::string(kFramingPreamble)};
}

constexpr Decoder kDecoders[] = {
    {"mesh_message", run_mesh_message, valid_mesh_messages},
    {"process_info", run_process_info, valid_process_infos},
    {"store_request", run_store_request, valid_store_requests},
    {"store_answer", run_store_answer, valid_store_answers},
    {"store_greeting", run_store_greeting, valid_store_greetings},
    {"framing", run_framing, valid_framings},
};

}  // namespace

std::span<const Decoder> control_decoders() { return kDecoders; }

}  // namespace isthmus::fuzz
