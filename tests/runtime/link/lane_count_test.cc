#include "runtime/link/lane_count.h"

#include <gtest/gtest.h>

#include <vector>

namespace isthmus {
namespace {

using namespace std::chrono_literals;

// A link whose lanes are the limit; `rate_of(lanes)` is what it carries then.
class BusyLink {
 public:
  BusyLink(int first, int most) : count(first, most) {}

  template <typename Rate>
  void run(Duration time, Rate rate_of, bool are_limit = true) {
    for (const TimePoint end = now + time; now < end; now += 10ms) {
      delivered_ += static_cast<std::uint64_t>(rate_of(count.count()) * 0.010);
      if (history.empty() || history.back() != count.count()) history.push_back(count.count());
      count.observe(delivered_, are_limit, count.count(), 60ms, now);
    }
  }

  LaneCount count;
  TimePoint now{1s};
  std::vector<int> history;  // of counts

 private:
  std::uint64_t delivered_ = 0;
};

double per_lane(int lanes) { return 1e6 * lanes; }
double same(int) { return 10e6; }

TEST(LaneCount, GrowsWhileItPays) {
  BusyLink link(2, 63);
  link.run(30s, per_lane);
  EXPECT_EQ(link.history, (std::vector<int>{2, 4, 8, 16, 32, 63}));
}

TEST(LaneCount, GoesBackToWhatWasBestAndPausesLongerEachTime) {
  BusyLink link(2, 63);
  link.run(20s, [](int lanes) { return 1e6 * std::min(lanes, 8); });
  EXPECT_EQ(link.count.count(), 8);
  EXPECT_EQ(std::vector<int>(link.history.begin(), link.history.begin() + 5), (std::vector<int>{2, 4, 8, 16, 8}));
  const std::size_t changes = link.history.size();
  link.run(60s, [](int lanes) { return 1e6 * std::min(lanes, 8); });
  const std::size_t in_a_minute = link.history.size() - changes;
  EXPECT_GE(in_a_minute, 1u);
  EXPECT_LE(in_a_minute, 8u) << "2, 4, 8, 16, 32 seconds";
}

TEST(LaneCount, MoreLanesThatDoNotPayAreGivenUp) {
  BusyLink link(2, 63);
  link.run(5s, same);
  EXPECT_EQ(link.history, (std::vector<int>{2, 4, 2}));
}

TEST(LaneCount, ATrialAfterThePauseFindsThatTheLineHasChanged) {
  BusyLink link(2, 8);
  link.run(5s, same);
  link.run(120s, per_lane);
  EXPECT_EQ(link.count.count(), 8);
}

TEST(LaneCount, AFixedCountStays) {
  BusyLink link(4, 4);
  link.run(60s, per_lane);
  EXPECT_EQ(link.history, std::vector<int>{4});
}

TEST(LaneCount, ALinkThatIsNotHeldBackByItsLanesSaysNothing) {
  BusyLink link(2, 63);
  link.run(60s, per_lane, false);
  EXPECT_EQ(link.history, std::vector<int>{2});
}

TEST(LaneCount, CountsOnlyOnceTheLanesExist) {
  LaneCount count(2, 63);
  std::uint64_t delivered = 0;
  TimePoint now(1s);
  for (int i = 0; i < 3000; ++i, now += 10ms) count.observe(delivered += 10'000, true, 1, 60ms, now);
  EXPECT_EQ(count.count(), 2);
}

}  // namespace
}  // namespace isthmus
