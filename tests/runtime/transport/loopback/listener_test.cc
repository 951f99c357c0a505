#include "runtime/transport/loopback/listener.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

TEST(LoopbackFabric, KeepsPortRanges) {
  LoopbackFabric fabric;
  const auto mailbox = *LoopbackMailbox::create(), other = *LoopbackMailbox::create();
  ListenOptions options;
  options.port_low = 10;
  options.port_high = 11;
  EXPECT_EQ(*fabric.listen(options, mailbox), 10u);
  EXPECT_EQ(*fabric.listen(options, other), 11u);
  EXPECT_EQ(fabric.listen(options, mailbox).status().code(), StatusCode::kUnavailable);
  fabric.remove(mailbox.get());
  EXPECT_EQ(fabric.find(10), nullptr);
  EXPECT_EQ(fabric.find(11), other);
  EXPECT_EQ(*fabric.listen(options, other), 10u);
}

TEST(LoopbackFabric, NumbersAreNew) {
  LoopbackFabric fabric;
  const auto mailbox = *LoopbackMailbox::create();
  const std::uint64_t first = *fabric.listen({}, mailbox);
  EXPECT_GT(fabric.new_number(), first);
  EXPECT_GT(*fabric.listen({}, mailbox), first + 1);
}

}  // namespace
}  // namespace isthmus
