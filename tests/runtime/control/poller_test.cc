#include "runtime/control/poller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace isthmus {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TimePoint in(Duration time) { return SteadyClock::instance().now() + time; }

TEST(Poller, NamesWhatIsReady) {
  auto poller = Poller::create();
  const auto a = WakeFd::create(), b = WakeFd::create();
  ASSERT_TRUE(poller.ok() && a.ok() && b.ok());
  ASSERT_TRUE(poller->add(a->get(), 1, false).ok());
  ASSERT_TRUE(poller->add(b->get(), 2, false).ok());
  std::vector<std::uint64_t> keys;
  ASSERT_TRUE(poller->wait(in(milliseconds(5)), &keys).ok());
  EXPECT_THAT(keys, IsEmpty());
  b->signal();
  ASSERT_TRUE(poller->wait(in(milliseconds(5000)), &keys).ok());
  EXPECT_THAT(keys, ElementsAre(2));
  a->signal();
  ASSERT_TRUE(poller->wait(in(milliseconds(5000)), &keys).ok());
  EXPECT_THAT(keys, UnorderedElementsAre(1, 2));
}

TEST(Poller, LooksForWritingOnlyWhereAsked) {
  auto poller = Poller::create();
  const auto a = WakeFd::create();
  ASSERT_TRUE(poller.ok() && a.ok());
  std::vector<std::uint64_t> keys;
  ASSERT_TRUE(poller->add(a->get(), 7, true).ok());
  ASSERT_TRUE(poller->wait(in(milliseconds(5000)), &keys).ok());
  EXPECT_THAT(keys, ElementsAre(7));
  ASSERT_TRUE(poller->change(a->get(), 7, false).ok());
  ASSERT_TRUE(poller->wait(in(milliseconds(5)), &keys).ok());
  EXPECT_THAT(keys, IsEmpty());
  poller->remove(a->get());
  EXPECT_FALSE(poller->change(a->get(), 7, true).ok());
}

}  // namespace
}  // namespace isthmus
