#include "runtime/transport/loopback/address.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

TEST(LoopbackAddress, IsReadBack) {
  for (const std::uint64_t number : {std::uint64_t{0}, std::uint64_t{7}, ~std::uint64_t{0}}) {
    const auto parsed = parse_loopback_address(format_loopback_address(number));
    ASSERT_TRUE(parsed.ok());
    EXPECT_EQ(*parsed, number);
  }
}

TEST(LoopbackAddress, RefusesOthers) {
  for (const char* text : {"", "loopback", "loopback:", "loopback:-1", "loopback:1 ", "loopback:0x1", "127.0.0.1:1",
                           "loopback:99999999999999999999"}) {
    EXPECT_EQ(parse_loopback_address(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace isthmus
