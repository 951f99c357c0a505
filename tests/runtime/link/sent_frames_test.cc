#include "runtime/link/sent_frames.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

class SentFramesTest : public ::testing::Test {
 protected:
  void send(int count) {
    for (int i = 0; i < count; ++i) frames_.keep(frames_.take(100));
  }
  // The segments that an acknowledgement newly covers.
  std::vector<std::uint64_t> acknowledge(const Acknowledgement& ack) {
    std::vector<std::uint64_t> segments;
    const Status status = frames_.acknowledge(ack, [&](OutFrame* frame) {
      segments.push_back(frame->segment);
      frames_.release(frame);
    });
    EXPECT_TRUE(status.ok()) << status.to_string();
    return segments;
  }

  SentFrames frames_{1000};
};

using Segments = std::vector<std::uint64_t>;

TEST_F(SentFramesTest, NumbersFromOneAndKeepsInOrder) {
  EXPECT_TRUE(frames_.empty());
  EXPECT_EQ(frames_.oldest(), nullptr);
  send(3);
  EXPECT_EQ(frames_.next_segment(), 4u);
  EXPECT_EQ(frames_.oldest()->segment, 1u);
  EXPECT_EQ(frames_.kept().size(), 3u);
}

TEST_F(SentFramesTest, EachIsAcknowledgedOnce) {
  send(8);
  EXPECT_EQ(acknowledge({2, {{4, 5}}, {}}), (Segments{4, 5, 1, 2}));
  EXPECT_EQ(frames_.oldest()->segment, 3u);
  EXPECT_EQ(acknowledge({2, {{4, 5}}, {}}), Segments{});
  EXPECT_EQ(acknowledge({1, {}, {}}), Segments{}) << "an older one that was overtaken";
  EXPECT_EQ(acknowledge({3, {{4, 7}}, {}}), (Segments{6, 7, 3}));
  EXPECT_EQ(frames_.oldest()->segment, 8u);
  EXPECT_EQ(acknowledge({8, {}, {}}), Segments{8});
  EXPECT_TRUE(frames_.empty());
}

TEST_F(SentFramesTest, WhatWasNeverSentCannotBeAcknowledged) {
  send(3);
  const auto never = [](OutFrame*) { FAIL(); };
  EXPECT_EQ(frames_.acknowledge({4, {}, {}}, never).code(), StatusCode::kCorruption);
  EXPECT_EQ(frames_.acknowledge({0, {{2, 4}}, {}}, never).code(), StatusCode::kCorruption);
  EXPECT_EQ(frames_.acknowledge({0, {{2, ~0ull}}, {}}, never).code(), StatusCode::kCorruption);
  EXPECT_EQ(frames_.kept().size(), 3u);
}

TEST_F(SentFramesTest, AReleasedFrameIsUsedAgainAndBlank) {
  OutFrame* frame = frames_.take(100);
  const std::byte* memory = frame->bytes.data();
  frames_.keep(frame);
  frame->copies[1].lane = 7;
  frame->was_resent = frame->is_acknowledged = true;
  EXPECT_TRUE(frame->has_lane());
  EXPECT_TRUE(frame->is_on(7));
  acknowledge({1, {}, {}});
  OutFrame* again = frames_.take(1000);
  EXPECT_EQ(again, frame);
  EXPECT_EQ(again->bytes.data(), memory) << "memory that was reserved is not allocated anew";
  EXPECT_EQ(again->bytes.size(), 1000u);
  EXPECT_EQ(again->segment, 0u);
  EXPECT_FALSE(again->has_lane() || again->is_acknowledged || again->was_resent);
}

}  // namespace
}  // namespace isthmus
