#include "runtime/transport/ucx/listener.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/transport/ucx/address.h"
#include "runtime/transport/ucx/library.h"

namespace isthmus {
namespace {

using ::testing::HasSubstr;

class UcxListenerTest : public ::testing::Test {
 protected:
  UcxListenerTest() { EXPECT_TRUE(load_ucx().ok()); }
  Status refusal(const ListenOptions& options) { return UcxListener::create(options, {}).status(); }
};

TEST_F(UcxListenerTest, AdvertisesWhereItListens) {
  const auto listener = UcxListener::create({"127.0.0.1", "127.0.0.1", 0, 0}, {});
  ASSERT_TRUE(listener.ok()) << listener.status().to_string();
  const auto address = UcxAddress::parse((*listener)->address());
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address->place.host(), "127.0.0.1");
  EXPECT_NE(address->place.port(), 0);
}

TEST_F(UcxListenerTest, RefusesWhatUcxCannotDo) {
  EXPECT_EQ(refusal({"0.0.0.0", "127.0.0.1", 0, 0}).code(), StatusCode::kUnsupported);
  const Status elsewhere = refusal({"127.0.0.1", "203.0.113.9", 0, 0});
  EXPECT_EQ(elsewhere.code(), StatusCode::kUnsupported);
  EXPECT_THAT(elsewhere.message(), HasSubstr("advertise_address"));
  EXPECT_EQ(refusal({"127.0.0.77", "", 0, 0}).code(), StatusCode::kUnavailable);
}

TEST_F(UcxListenerTest, RefusesNamesForeignAddressesAndEmptyRanges) {
  EXPECT_EQ(refusal({"localhost", "", 0, 0}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal({"127.0.0.1", "", 4001, 4000}).code(), StatusCode::kInvalidArgument);
  const Status foreign = refusal({"192.0.2.1", "", 0, 0});
  EXPECT_EQ(foreign.code(), StatusCode::kUnavailable);
  EXPECT_THAT(foreign.message(), HasSubstr("192.0.2.1"));
}

}  // namespace
}  // namespace isthmus
