#include "collectives/descriptor.h"

#include <gtest/gtest.h>

#include "runtime/link/channel.h"

namespace isthmus {
namespace {

TEST(Descriptor, RoundTripFitsAFrame) {
  const Descriptor mine{OperationKind::kBroadcast, DataType::kBFloat16, ReduceOp::kSum, 1, 3, 1u << 20, 4096};
  const std::string bytes = mine.encode();
  EXPECT_LE(bytes.size(), kMaxDescriptorBytes);
  const Result<Descriptor> decoded = Descriptor::decode(bytes);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ((*decoded).encode(), bytes);
  EXPECT_EQ((*decoded).words(), "broadcast of 1048576 bf16 from root 3");
}

TEST(Descriptor, HostileInputIsRefused) {
  const std::string bytes = Descriptor().encode();
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(Descriptor::decode(std::string_view(bytes).substr(0, length)).ok());
  for (const std::size_t at : {0u, 1u, 2u}) {
    std::string bad = bytes;
    bad[at] = 99;
    EXPECT_FALSE(Descriptor::decode(bad).ok()) << at;
  }
}

}  // namespace
}  // namespace isthmus
