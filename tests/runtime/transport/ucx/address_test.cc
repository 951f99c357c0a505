#include "runtime/transport/ucx/address.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus {
namespace {

TEST(UcxAddress, IsReadBack) {
  for (std::size_t length : {1u, 2u, 3u, 50u, 81u, 144u}) {
    UcxAddress address{*SocketAddress::parse("10.77.0.1:4001"), {}};
    for (std::size_t i = 0; i < length; ++i) address.worker += static_cast<char>(i * 37 + length);
    const std::string text = address.text();
    EXPECT_LE(text.size(), 256u);
    EXPECT_THAT(text, testing::StartsWith("10.77.0.1:4001/"));
    const auto read = UcxAddress::parse(text);
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(read->worker, address.worker);
    EXPECT_TRUE(read->place == address.place);
  }
}

TEST(UcxAddress, RefusesWhatIsNone) {
  const std::string too_long = "10.0.0.1:1/" + std::string(200, 'A');
  for (const std::string text : {"", "/", "10.0.0.1:1", "10.0.0.1:1/", "10.0.0.1/AAAA", "10.0.0.1:1/AA+A",
                                 "10.0.0.1:1/AAAA/AAAA", "10.0.0.1:1/AB", "host:1/AAAA", too_long.c_str()}) {
    const auto address = UcxAddress::parse(text);
    EXPECT_EQ(address.status().code(), StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(address.status().message(), testing::HasSubstr('"' + text + '"'));
  }
}

}  // namespace
}  // namespace isthmus
