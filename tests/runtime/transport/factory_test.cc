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

TEST(TransportFactory, NamesWhatThereIs) {
  const auto transport = make_transport("pigeon");
  ASSERT_FALSE(transport.ok());
  EXPECT_EQ(transport.status().code(), StatusCode::kUnsupported);
  EXPECT_THAT(transport.status().message(), testing::HasSubstr("pigeon"));
  EXPECT_THAT(transport.status().message(), testing::HasSubstr("libfabric"));
}

}  // namespace
}  // namespace isthmus
