// What a process tells the others about itself when a group is built.
//
// Threads: values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/process_id.h"
#include "runtime/base/status.h"
#include "runtime/security/security_config.h"

namespace isthmus {

inline constexpr std::uint32_t kProtocolVersion = 1;

struct ProcessInfo {
  ProcessId process = 0;
  std::uint32_t protocol_version = kProtocolVersion;
  std::string library_version;
  std::string host_id;     // equal for processes that can share memory: see host_identity.h
  std::string network_id;  // equal for processes that reach each other over loopback
  std::string host_name;   // for messages
  std::string site;        // from ISTHMUS_SITE or the option; empty: to be detected
  std::uint32_t pid = 0;
  SecurityLevel security = SecurityLevel::kNone;  // equal on all members of a group
  CipherKind cipher = CipherKind::kAes256Gcm;     // what it seals fastest with
  std::string transport;                          // name of the data transport, which must be equal everywhere
  // Where this process may be reached, before it listens: peers choose their own address by their route to these.
  std::vector<std::string> candidate_hosts;
  std::vector<std::string> control_addresses;  // dialled in this order
  std::vector<std::string> data_addresses;     // as Transport::listen returned them; same order

  // The beginning (magic, protocol version, process, library version) is the same in every version.
  std::string encode() const;
  // Of another protocol version: only the fields of the beginning are filled. corruption: not a ProcessInfo.
  static Result<ProcessInfo> decode(std::string_view bytes);
};

// Random and non-zero.
ProcessId make_process_id();

}  // namespace isthmus
