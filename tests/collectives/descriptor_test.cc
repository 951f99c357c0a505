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

TEST(Descriptor, CountsOfBlocksTravelAsFarAsTheyHaveRoom) {
  Descriptor mine;
  mine.kind = OperationKind::kGatherV;
  const std::vector<std::size_t> few = {3, 0, 70000};
  mine.set_counts(few);
  EXPECT_EQ(mine.count, 70003u);
  const Result<Descriptor> decoded = Descriptor::decode(mine.encode());
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ((*decoded).encode(), mine.encode());
  EXPECT_NE((*decoded).words().find("in blocks of 3, 0, 70000"), std::string::npos) << (*decoded).words();

  std::vector<std::size_t> many(1000, SIZE_MAX / 2000), other = many;
  other.back() -= 1;
  mine.set_counts(many);
  Descriptor theirs = mine;
  theirs.set_counts(other);
  EXPECT_LE(mine.encode().size(), kMaxDescriptorBytes);
  EXPECT_NE(mine.counts_digest, theirs.counts_digest);
  EXPECT_TRUE(Descriptor::decode(mine.encode()).ok());
}

TEST(Descriptor, HostileInputIsRefused) {
  const std::string bytes = Descriptor().encode();
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(Descriptor::decode(std::string_view(bytes).substr(0, length)).ok());
  EXPECT_FALSE(Descriptor::decode(bytes + std::string(8, 'x') + "\xff").ok()) << "a count that does not end";
  EXPECT_FALSE(Descriptor::decode(bytes + "1234567").ok());
  EXPECT_FALSE(Descriptor::decode(bytes + "12345678").ok()) << "a digest of nothing";
  for (const std::size_t at : {0u, 1u, 2u}) {
    std::string bad = bytes;
    bad[at] = 99;
    EXPECT_FALSE(Descriptor::decode(bad).ok()) << at;
  }
}

}  // namespace
}  // namespace isthmus
