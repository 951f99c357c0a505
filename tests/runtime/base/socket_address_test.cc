#include "runtime/base/socket_address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus {
namespace {

using testing::Contains;

TEST(SocketAddress, TextReadsBack) {
  for (const char* text : {"10.77.0.1:40000", "[2001:db8::1]:1", "127.0.0.1:65535", "[::]:9"}) {
    const auto address = SocketAddress::parse(text);
    ASSERT_TRUE(address.ok()) << address.status().to_string();
    EXPECT_EQ(address->text(), text);
  }
}

TEST(SocketAddress, RefusesWhatIsNone) {
  for (const char* text : {"", ":1", "10.0.0.1", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:1x", "name:1",
                           "::1:40000", "[::1]", "[10.0.0:1"}) {
    EXPECT_EQ(SocketAddress::parse(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(SocketAddress, NamesWhatItRefuses) {
  for (const char* text : {"1.2.3:80", "localhost:80", "1.2.3.256:80", "[::1:80", "[fe80::%nowhere]:1"}) {
    EXPECT_THAT(SocketAddress::parse(text).status().message(), testing::HasSubstr('"' + std::string(text) + '"'));
  }
}

TEST(SocketAddress, TellsHostsApart) {
  const auto of = [](const char* text) { return *SocketAddress::parse(text); };
  EXPECT_TRUE(of("127.0.0.1:1") == of("127.0.0.1:1"));
  EXPECT_FALSE(of("127.0.0.1:1") == of("127.0.0.1:2"));
  EXPECT_FALSE(of("127.0.0.1:1") == of("127.0.0.2:1"));
  EXPECT_TRUE(of("[::1]:1") == of("[::1]:1"));
  EXPECT_FALSE(of("[::1]:1") == of("[::2]:1"));
  EXPECT_FALSE(of("[::1]:1") == of("127.0.0.1:1"));
}

TEST(SocketAddress, KnowsItsKind) {
  EXPECT_TRUE(SocketAddress::from_host("127.0.1.1", 1)->is_loopback());
  EXPECT_TRUE(SocketAddress::from_host("::1", 1)->is_loopback());
  EXPECT_FALSE(SocketAddress::from_host("10.0.0.1", 1)->is_loopback());
  EXPECT_TRUE(SocketAddress::from_host("0.0.0.0", 1)->is_wildcard());
  EXPECT_TRUE(SocketAddress::from_host("::", 1)->is_wildcard());
  EXPECT_TRUE(SocketAddress::from_host("fe80::1", 1)->is_link_local());
  EXPECT_TRUE(SocketAddress::from_host("169.254.3.4", 1)->is_link_local());
  EXPECT_FALSE(SocketAddress::from_host("2001:db8::1", 1)->is_link_local());
}

TEST(SocketAddress, HostsAndPortsJoinAndSplit) {
  EXPECT_EQ(join_host_port("::1", 5), "[::1]:5");
  EXPECT_EQ(join_host_port("node.example", 5), "node.example:5");
  EXPECT_EQ(split_host_port("node.example:5")->host, "node.example");
  EXPECT_EQ(split_host_port("[::1]:5")->host, "::1");
  EXPECT_EQ(split_host_port("[::1]:5")->port, 5);
}

TEST(SocketAddress, ResolvesNumericHostsToThemselves) {
  EXPECT_THAT(*resolve_host("10.1.2.3"), Contains("10.1.2.3"));
  EXPECT_EQ(resolve_host("no such host.invalid").status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace isthmus
