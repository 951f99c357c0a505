#include "runtime/transport/factory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus {
namespace {

TEST(TransportFactory, MakesWhatItNames) {
  ASSERT_FALSE(transport_names().empty());
  for (const std::string_view name : transport_names()) {
    const auto transport = make_transport(name);
    ASSERT_TRUE(transport.ok()) << transport.status().to_string();
    EXPECT_EQ((*transport)->capabilities().name, name);
  }
}

// What is here is taken, in the order of the names.
TEST(TransportFactory, AutoTakesTheFirst) {
  const auto choice = choose_transport("auto");
  ASSERT_TRUE(choice.ok()) << choice.status().to_string();
  EXPECT_EQ(choice->name, transport_names().front());
  EXPECT_THAT(choice->reason, testing::StartsWith("auto"));
  const auto transport = make_transport("auto");
  ASSERT_TRUE(transport.ok()) << transport.status().to_string();
  EXPECT_EQ((*transport)->capabilities().name, choice->name);
}

TEST(TransportFactory, NamesWhatThereIs) {
  const auto transport = make_transport("pigeon");
  ASSERT_FALSE(transport.ok());
  EXPECT_EQ(transport.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(transport.status().message(), testing::HasSubstr("pigeon"));
  EXPECT_THAT(transport.status().message(), testing::HasSubstr(std::string(transport_names().back())));
}

}  // namespace
}  // namespace isthmus
