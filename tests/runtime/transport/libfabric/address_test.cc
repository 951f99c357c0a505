#include "runtime/transport/libfabric/address.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

TEST(FabricAddress, IsReadBack) {
  for (const char* text : {"127.0.0.1:1", "10.77.0.1:65535", "[::1]:4001", "[2001:db8::17]:80"}) {
    const auto address = FabricAddress::from_text(text);
    ASSERT_TRUE(address.ok()) << address.status().to_string();
    EXPECT_EQ(address->to_text(), text);
    EXPECT_EQ(*address, *FabricAddress::from_text(text));
  }
}

TEST(FabricAddress, RefusesNamesAndShorthands) {
  for (const char* text : {"", ":", "1.2.3.4", "1.2.3.4:", "1.2.3.4:0", "1.2.3.4:65536", "1.2.3.4:+1", "1.2.3.4:1x",
                           "1.2.3:80", "localhost:80", "::1:80", "[::1]", "[::1]:", "[1.2.3.4]:80", "[]:80",
                           "1.2.3.256:80", "[::1:80", "[fe80::%nowhere]:1"}) {
    const auto address = FabricAddress::from_text(text);
    EXPECT_EQ(address.status().code(), StatusCode::kInvalidArgument) << text;
    EXPECT_NE(address.status().message().find('"' + std::string(text) + '"'), std::string::npos);
  }
}

TEST(FabricAddress, TellsHostsApart) {
  const auto of = [](const char* text) { return *FabricAddress::from_text(text); };
  EXPECT_FALSE(of("127.0.0.1:1") == of("127.0.0.1:2"));
  EXPECT_FALSE(of("127.0.0.1:1") == of("127.0.0.2:1"));
  EXPECT_FALSE(of("[::1]:1") == of("[::2]:1"));
  EXPECT_FALSE(of("[::1]:1") == of("127.0.0.1:1"));
  EXPECT_TRUE(FabricAddress::from_host("0.0.0.0", 0)->is_wildcard());
  EXPECT_TRUE(FabricAddress::from_host("::", 0)->is_wildcard());
  EXPECT_FALSE(of("[::1]:1").is_wildcard());
  EXPECT_EQ(of("[::1]:77").port(), 77);
  EXPECT_EQ(of("[::1]:77").host(), "::1");
}

}  // namespace
}  // namespace isthmus
