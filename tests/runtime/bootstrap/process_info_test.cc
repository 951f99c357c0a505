#include "runtime/bootstrap/process_info.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

ProcessInfo sample() {
  ProcessInfo info;
  info.process = 0x1122334455667788;
  info.library_version = "0.1.0";
  info.host_id = "boot ipc mnt net";
  info.network_id = "boot net";
  info.host_name = "node7";
  info.site = "oslo";
  info.security = SecurityLevel::kSecured;
  info.cipher = CipherKind::kChaCha20Poly1305;
  info.pid = 4711;
  info.transport = "libfabric";
  info.candidate_hosts = {"10.0.0.7", "2001:db8::7"};
  info.control_addresses = {"10.0.0.7:40000"};
  info.data_addresses = {"fi:10.0.0.7:40001", "fi:[2001:db8::7]:40002"};
  return info;
}

TEST(ProcessInfo, ReadsBackWhole) {
  const auto info = ProcessInfo::decode(sample().encode());
  ASSERT_TRUE(info.ok()) << info.status().to_string();
  EXPECT_EQ(info->encode(), sample().encode());
  EXPECT_EQ(info->process, sample().process);
  EXPECT_EQ(info->data_addresses, sample().data_addresses);
  EXPECT_EQ(info->network_id, "boot net");
}

TEST(ProcessInfo, TheBeginningIsAsWritten) {
  const std::string bytes = sample().encode();
  EXPECT_EQ(bytes.substr(0, 25), std::string("ISPI\x01\0\0\0\x88\x77\x66\x55\x44\x33\x22\x11\x05\0\0\0"
                                             "0.1.0",
                                             25));
}

TEST(ProcessInfo, MX01_AnotherVersionStillTellsWhoItIs) {
  ProcessInfo other = sample();
  other.protocol_version = kProtocolVersion + 1;
  const std::string bytes = other.encode().substr(0, 25) + "whatever a later version writes";
  const auto info = ProcessInfo::decode(bytes);
  ASSERT_TRUE(info.ok()) << info.status().to_string();
  EXPECT_EQ(info->protocol_version, kProtocolVersion + 1);
  EXPECT_EQ(info->process, other.process);
  EXPECT_EQ(info->library_version, "0.1.0");
  EXPECT_EQ(info->host_name, "");
}

TEST(ProcessInfo, EveryTruncationIsCorruption) {
  const std::string bytes = sample().encode();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(ProcessInfo::decode(bytes.substr(0, length)).status().code(), StatusCode::kCorruption) << length;
  }
  EXPECT_EQ(ProcessInfo::decode(bytes + "x").status().code(), StatusCode::kCorruption);
}

TEST(ProcessInfo, EveryFlippedByteIsHarmless) {
  const std::string bytes = sample().encode();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const char flip : {'\x01', '\x80', '\xff'}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      const auto info = ProcessInfo::decode(changed);
      if (info.ok() && info->protocol_version == kProtocolVersion) {
        EXPECT_EQ(info->encode(), changed) << at;
      }
    }
  }
}

TEST(ProcessInfo, IdsAreNotZeroAndDiffer) {
  const ProcessId a = make_process_id(), b = make_process_id();
  EXPECT_NE(a, 0u);
  EXPECT_NE(a, b);
}

}  // namespace
}  // namespace isthmus
