#include "runtime/bootstrap/callback_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus {
namespace {

using testing::HasSubstr;

StoreFunctions functions_that_fail() {
  StoreFunctions functions;
  functions.set = [](auto, auto, Duration) { return unavailable("the caller's server is gone"); };
  functions.get = [](auto, Duration) -> Result<std::string> { return unavailable("the caller's server is gone"); };
  functions.contains = [](auto, Duration) -> Result<bool> { return unavailable("the caller's server is gone"); };
  functions.add = [](auto, auto, Duration) -> Result<std::int64_t> {
    return unavailable("the caller's server is gone");
  };
  return functions;
}

TEST(CallbackStore, AMissingFunctionIsNamed) {
  StoreFunctions functions = functions_that_fail();
  functions.contains = nullptr;
  const Status status = CallbackStore::create(std::move(functions)).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("contains"));
}

TEST(CallbackStore, ErrorsKeepTheirCategoryAndNameTheKey) {
  const auto store = CallbackStore::create(functions_that_fail());
  ASSERT_TRUE(store.ok());
  const TimePoint deadline = SteadyClock::instance().now() + std::chrono::seconds(1);
  for (const Status& status : {(*store)->set("k", "", deadline), (*store)->get("k", deadline).status(),
                               (*store)->contains("k", deadline).status(), (*store)->add("k", 1, deadline).status()}) {
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    EXPECT_THAT(status.message(), HasSubstr("key \"k\""));
    EXPECT_THAT(status.message(), HasSubstr("server is gone"));
  }
  EXPECT_EQ((*store)->remove("k", deadline).code(), StatusCode::kUnsupported);
}

TEST(CallbackStore, CallbacksGetTheTimeThatIsLeftAndAreNotCalledWithoutAny) {
  StoreFunctions functions = functions_that_fail();
  Duration given{};
  int calls = 0;
  functions.set = [&](auto, auto, Duration limit) {
    given = limit;
    ++calls;
    return Status();
  };
  const auto store = CallbackStore::create(std::move(functions));
  ASSERT_TRUE(store.ok());
  const TimePoint now = SteadyClock::instance().now();
  EXPECT_TRUE((*store)->set("k", "", now + std::chrono::seconds(10)).ok());
  EXPECT_GT(given, std::chrono::seconds(5));
  EXPECT_LE(given, std::chrono::seconds(10));
  EXPECT_EQ((*store)->set("k", "", now).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace isthmus
