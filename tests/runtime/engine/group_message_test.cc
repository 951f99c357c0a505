#include "runtime/engine/group_message.h"

#include <gtest/gtest.h>

#include <random>

namespace isthmus {
namespace {

TEST(GroupMessage, RoundTrip) {
  GroupMessage message{GroupMessageKind::kAbort, 7, 9, unavailable("rank {} is dead", 3)};
  const Result<GroupMessage> decoded = decode_group_message(encode_group_message(message));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ((*decoded).kind, GroupMessageKind::kAbort);
  EXPECT_EQ((*decoded).group, 7u);
  EXPECT_EQ((*decoded).process, 9u);
  EXPECT_EQ((*decoded).status.code(), StatusCode::kUnavailable);
  EXPECT_EQ((*decoded).status.message(), "rank 3 is dead");
}

TEST(GroupMessage, HostileInputIsRefusedOrHarmless) {
  const std::string good = encode_group_message({GroupMessageKind::kLeave, 1, 2, Status()});
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(decode_group_message(std::string_view(good).substr(0, length)).ok()) << length;
  EXPECT_FALSE(decode_group_message(good + "x").ok());
  std::mt19937 random(3);
  for (int i = 0; i < 5000; ++i) {
    std::string bytes = good;
    bytes[random() % bytes.size()] = static_cast<char>(random());
    const Result<GroupMessage> decoded = decode_group_message(bytes);
    if (decoded.ok()) {
      EXPECT_LE(static_cast<int>((*decoded).kind), static_cast<int>(GroupMessageKind::kProbe));
    }
  }
}

}  // namespace
}  // namespace isthmus
