#include "runtime/control/memory_control.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

TEST(MemoryControl, NetworksAreApart) {
  MemoryControlNetwork one, other;
  const auto listener = one.listen("", "", 0, 0);
  ASSERT_TRUE(listener.ok());
  EXPECT_TRUE(one.dial((*listener)->address()).ok());
  EXPECT_EQ(other.dial((*listener)->address()).status().code(), StatusCode::kUnavailable);
}

TEST(MemoryControl, EndsWaitingStreamsWithTheirListener) {
  MemoryControlNetwork network;
  auto listener = network.listen("", "", 0, 0);
  ASSERT_TRUE(listener.ok());
  const auto stream = network.dial((*listener)->address());
  ASSERT_TRUE(stream.ok());
  std::move(listener).value().reset();
  std::string message;
  EXPECT_EQ((*stream)->receive(&message).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ((*stream)->send("x").code(), StatusCode::kUnavailable);
}

TEST(MemoryControl, AddressesAreNeverUsedAgain) {
  MemoryControlNetwork network;
  std::string first;
  {
    const auto listener = network.listen("", "", 0, 0);
    ASSERT_TRUE(listener.ok());
    first = (*listener)->address();
  }
  const auto second = network.listen("", "", 0, 0);
  ASSERT_TRUE(second.ok());
  EXPECT_NE((*second)->address(), first);
}

}  // namespace
}  // namespace isthmus
