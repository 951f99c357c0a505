#include "runtime/engine/call_log.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

class CallLogTest : public testing::Test {
 protected:
  void call(std::uint64_t sequence, const std::string& descriptor) {
    log_.called(sequence, descriptor, "call #" + std::to_string(sequence), [descriptor](std::string_view theirs) {
      return "calls " + std::string(theirs) + ", not " + descriptor;
    });
  }
  std::vector<std::string> found_;
  CallLog log_{[](std::uint32_t rank) { return "rank " + std::to_string(rank); },
               [this](const Status& why) { found_.push_back(why.to_string()); }};
};

TEST_F(CallLogTest, ComparesWhatWasHeardBeforeAndAfterTheOwnCall) {
  log_.on_call(1, 1, "a");
  log_.on_call(2, 1, "b");
  log_.on_call(2, 1, "b");
  EXPECT_TRUE(found_.empty());
  call(1, "a");
  EXPECT_EQ(found_, std::vector<std::string>{"invalid_argument: call #1: rank 2 calls b, not a"});
  found_.clear();
  log_.on_call(3, 1, "a");
  EXPECT_TRUE(found_.empty());
  log_.on_call(3, 1, "c");
  EXPECT_EQ(found_, std::vector<std::string>{"invalid_argument: call #1: rank 3 calls c, not a"});
}

TEST_F(CallLogTest, CallsOfLongAgoAreForgotten) {
  for (std::uint64_t sequence = 1; sequence <= CallLog::kKept + 1; ++sequence) call(sequence, "a");
  log_.on_call(1, 1, "b");
  EXPECT_TRUE(found_.empty());
  log_.on_call(1, 2, "b");
  EXPECT_EQ(found_.size(), 1u);
}

TEST_F(CallLogTest, APeerThatRunsFarAheadCostsBoundedMemory) {
  for (std::uint64_t sequence = 1; sequence <= 2 * CallLog::kMaxHeard; ++sequence) log_.on_call(1, sequence, "b");
  call(CallLog::kMaxHeard + 1, "a");
  EXPECT_TRUE(found_.empty());
  call(CallLog::kMaxHeard, "a");
  EXPECT_EQ(found_.size(), 1u);
}

}  // namespace
}  // namespace isthmus
