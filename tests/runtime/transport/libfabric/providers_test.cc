#include "runtime/transport/libfabric/providers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/transport/libfabric/library.h"

namespace isthmus {
namespace {

using ::testing::HasSubstr;

TEST(LibfabricProviders, TcpIsTakenAndTheOthersAreExplained) {
  const std::vector<LibfabricProvider> found = {
      {"verbs", true, {"mlx5_0"}}, {"sockets", false, {"eth0"}}, {"tcp", false, {"eth0"}}};
  const auto choice = choose_libfabric_provider(found);
  ASSERT_TRUE(choice.ok()) << choice.status().to_string();
  EXPECT_EQ(choice->name, "tcp");
  EXPECT_THAT(choice->reason, HasSubstr("verbs: wants every buffer registered"));
  EXPECT_THAT(choice->reason, HasSubstr("sockets: "));
}

TEST(LibfabricProviders, WithoutTcpTheReasonsAreTheError) {
  const std::vector<LibfabricProvider> found = {{"verbs", true, {"mlx5_0"}}};
  const Status status = choose_libfabric_provider(found).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("verbs"));
  EXPECT_EQ(choose_libfabric_provider({}).status().code(), StatusCode::kUnsupported);
}

TEST(LibfabricProviders, TheOnesOfThisHostHaveTcp) {
  ASSERT_TRUE(load_libfabric().ok());
  const auto choice = choose_libfabric_provider(find_libfabric_providers());
  ASSERT_TRUE(choice.ok()) << choice.status().to_string();
  EXPECT_EQ(choice->name, "tcp");
}

}  // namespace
}  // namespace isthmus
