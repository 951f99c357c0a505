#include "runtime/transport/libfabric/listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class LibfabricListenerTest : public ::testing::Test {
 protected:
  Result<LibfabricListener> listen(const ListenOptions& options) {
    return LibfabricListener::create(*domain_, options);
  }

  std::unique_ptr<LibfabricDomain> domain_ = LibfabricDomain::create().value();
};

TEST_F(LibfabricListenerTest, TakesAFreePort) {
  const auto listener = listen({"127.0.0.1", "", 0, 0});
  ASSERT_TRUE(listener.ok()) << listener.status().to_string();
  EXPECT_THAT(listener->address(), StartsWith("127.0.0.1:"));
  EXPECT_NE(SocketAddress::parse(listener->address())->port(), 0);
}

TEST_F(LibfabricListenerTest, AdvertisesWhatItIsTold) {
  const auto listener = listen({"127.0.0.1", "2001:db8::7", 0, 0});
  ASSERT_TRUE(listener.ok()) << listener.status().to_string();
  EXPECT_THAT(listener->address(), StartsWith("[2001:db8::7]:"));
}

TEST_F(LibfabricListenerTest, AWildcardNeedsAnAdvertisedAddress) {
  EXPECT_EQ(listen({"0.0.0.0", "", 0, 0}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(listen({"::", "", 0, 0}).status().code(), StatusCode::kInvalidArgument);
  const auto listener = listen({"0.0.0.0", "127.0.0.1", 0, 0});
  ASSERT_TRUE(listener.ok()) << listener.status().to_string();
  EXPECT_THAT(listener->address(), StartsWith("127.0.0.1:"));
}

TEST_F(LibfabricListenerTest, RefusesWhatIsNotOfThisHost) {
  const auto listener = listen({"192.0.2.1", "", 0, 0});
  ASSERT_FALSE(listener.ok());
  EXPECT_EQ(listener.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(listener.status().message(), HasSubstr("192.0.2.1"));
}

TEST_F(LibfabricListenerTest, RefusesNamesAndEmptyRanges) {
  EXPECT_EQ(listen({"localhost", "", 0, 0}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(listen({"127.0.0.1", "localhost", 0, 0}).status().code(), StatusCode::kInvalidArgument);
  const auto backwards = listen({"127.0.0.1", "", 4001, 4000});
  EXPECT_EQ(backwards.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(backwards.status().message(), HasSubstr("4001-4000"));
}

TEST_F(LibfabricListenerTest, OneDomainListensInBothFamilies) {
  const auto v4 = listen({"127.0.0.1", "", 0, 0}), v6 = listen({"::1", "", 0, 0});
  EXPECT_TRUE(v4.ok()) << v4.status().to_string();
  EXPECT_TRUE(v6.ok()) << v6.status().to_string();
}

}  // namespace
}  // namespace isthmus
