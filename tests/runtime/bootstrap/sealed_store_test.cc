#include "runtime/bootstrap/sealed_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/bootstrap/memory_store.h"

namespace isthmus {
namespace {

using testing::HasSubstr;

TimePoint soon() { return SteadyClock::instance().now() + std::chrono::seconds(5); }

class SealedStoreTest : public testing::Test {
 protected:
  void expect_refused(Store& store, std::string_view key, std::string_view reason) {
    const Status status = store.get(key, soon()).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("authentication failed"));
    EXPECT_THAT(status.message(), HasSubstr(std::string(reason)));
    EXPECT_THAT(status.message(), HasSubstr(std::string(key)));
  }

  const JobSecret secret_ = *JobSecret::generate();
  MemoryStore open_;
  SealedStore sealed_{&open_, secret_, "world"};
};

TEST_F(SealedStoreTest, ValuesReadBackAndAreNotSeenFromOutside) {
  for (const std::string& value : {std::string(), std::string("marker"), std::string(100'000, 'm')}) {
    ASSERT_TRUE(sealed_.set("key", value, soon()).ok());
    EXPECT_EQ(*sealed_.get("key", soon()), value);
    EXPECT_EQ(open_.get("key", soon())->find(value.empty() ? "mmmm" : value.substr(0, 5)), std::string::npos);
  }
  EXPECT_TRUE(*sealed_.contains("key", soon()));
  ASSERT_TRUE(sealed_.remove("key", soon()).ok());
  EXPECT_FALSE(*sealed_.contains("key", soon()));
  EXPECT_EQ(*sealed_.add("count", 3, soon()), 3);
  EXPECT_EQ(*open_.get("count", soon()), "3");
}

TEST_F(SealedStoreTest, EqualValuesDoNotLookEqual) {
  ASSERT_TRUE(sealed_.set("a", "value", soon()).ok());
  ASSERT_TRUE(sealed_.set("b", "value", soon()).ok());
  EXPECT_NE(*open_.get("a", soon()), *open_.get("b", soon()));
}

TEST_F(SealedStoreTest, ClonesShareTheSecret) {
  const auto clone = std::move(sealed_.clone()).value();
  ASSERT_TRUE(clone->set("key", "value", soon()).ok());
  EXPECT_EQ(*sealed_.get("key", soon()), "value");
}

TEST_F(SealedStoreTest, SE03_NothingForgedMovedOrPlainIsTaken) {
  ASSERT_TRUE(sealed_.set("key", "value", soon()).ok());
  const std::string good = *open_.get("key", soon());
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    ASSERT_TRUE(open_.set("key", bad, soon()).ok());
    expect_refused(sealed_, "key", bit < kSealedMagic.size() * 8 ? "without a job secret" : "not written with");
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    ASSERT_TRUE(open_.set("key", good.substr(0, size), soon()).ok());
    expect_refused(sealed_, "key", "");
  }
  ASSERT_TRUE(open_.set("other", good, soon()).ok());
  expect_refused(sealed_, "other", "not written with");
  ASSERT_TRUE(open_.set("key", good, soon()).ok());
  EXPECT_TRUE(sealed_.get("key", soon()).ok());
  SealedStore other_group(&open_, secret_, "other");
  expect_refused(other_group, "key", "not written with");
  SealedStore other_secret(&open_, *JobSecret::generate(), "world");
  expect_refused(other_secret, "key", "different ones");
}

TEST_F(SealedStoreTest, DeadlinesPass) {
  EXPECT_EQ(sealed_.get("absent", SteadyClock::instance().now() + std::chrono::milliseconds(10)).status().code(),
            StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace isthmus
