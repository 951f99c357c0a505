// Inbound and Outbound against each other, with no link between: what is sent, held back, kept early and refused.
#include <gtest/gtest.h>

#include "runtime/link/inbound.h"
#include "runtime/link/outbound.h"
#include "tests/runtime/link/recording_operation.h"

namespace isthmus {
namespace {

constexpr OperationKey kFirst{1, 1, 0, 0}, kSecond{1, 2, 0, 0};
constexpr EagerLimits kLimits{1000, 3000};

// Takes every segment that may be sent and gives it to `to` (and credits to `back`).
int move_all(Outbound& from, Inbound& to, Outbound& back, std::size_t segment_bytes = 100) {
  int moved = 0;
  OutboundSegment segment;
  while (from.next(segment_bytes, &segment)) {
    Frame frame{segment.header, segment.descriptor, segment.payload};
    const std::string descriptor(segment.descriptor);
    const std::string payload(as_text(segment.payload));
    frame.descriptor = descriptor;
    frame.payload = as_bytes(payload);
    from.segment_taken();
    if (frame.header.type == FrameType::kCredit) {
      to.on_descriptor(frame.header.operation, descriptor);
      back.on_credit(frame.header.operation, frame.header.offset);
    } else {
      EXPECT_TRUE(to.on_data(frame).ok());
    }
    ++moved;
  }
  return moved;
}

struct Pair {
  Outbound a_out{kLimits}, b_out{kLimits};
  Inbound a_in{kLimits}, b_in{kLimits};
  RecordingOperation a, b;
  void move() {
    while (move_all(a_out, b_in, b_out) + move_all(b_out, a_in, a_out) > 0) {
    }
  }
};

TEST(Matching, DataWaitsForTheOperationAndTheReceive) {
  Pair pair;
  std::string source(250, 'x'), target(250, '.');
  pair.a_out.open(kFirst, "d", 0, &pair.a);
  pair.a_out.send(kFirst, 3, as_bytes(source), 7);
  pair.move();
  EXPECT_EQ(pair.a.sent, std::vector<std::uint32_t>{7});  // eager: the source is free
  pair.b_in.open(kFirst, "d", &pair.b);
  EXPECT_TRUE(pair.b.received.empty());
  pair.b_in.receive(kFirst, 3, std::as_writable_bytes(std::span(target)), 9);
  EXPECT_EQ(pair.b.received, std::vector<std::uint32_t>{9});
  EXPECT_EQ(target, source);
}

TEST(Matching, AnOperationWithoutCreditDoesNotHoldTheNext) {
  Pair pair;
  const std::string big(5000, 'x'), small(10, 'y');
  RecordingOperation second;
  pair.a_out.open(kFirst, "d", 0, &pair.a);
  pair.a_out.open(kSecond, "d", 0, &second);
  pair.a_out.send(kFirst, 0, as_bytes(big), 1);
  pair.a_out.send(kSecond, 0, as_bytes(small), 2);
  pair.move();
  EXPECT_TRUE(pair.a.sent.empty());
  EXPECT_EQ(second.sent, std::vector<std::uint32_t>{2});

  std::string target(5000, '.');
  pair.b_in.open(kFirst, "d", &pair.b);
  pair.b_out.open(kFirst, "d", 5000, &pair.b);
  pair.b_in.receive(kFirst, 0, std::as_writable_bytes(std::span(target)), 4);
  pair.move();
  EXPECT_EQ(pair.a.sent, std::vector<std::uint32_t>{1});
  EXPECT_EQ(pair.b.received, std::vector<std::uint32_t>{4});
  EXPECT_EQ(target, big);
}

TEST(Matching, EagerTotalBoundsManyOperationsAndCreditFreesIt) {
  Pair pair;
  std::vector<std::unique_ptr<RecordingOperation>> operations;
  const std::string payload(500, 'x');
  for (std::uint64_t s = 1; s <= 10; ++s) {
    operations.push_back(std::make_unique<RecordingOperation>());
    pair.a_out.open({1, s, 0, 0}, "d", 0, operations.back().get());
    pair.a_out.send({1, s, 0, 0}, 0, as_bytes(payload), 0);
  }
  pair.move();
  auto sent = [&] {
    int count = 0;
    for (const auto& operation : operations) count += static_cast<int>(operation->sent.size());
    return count;
  };
  EXPECT_GE(sent(), 1);
  EXPECT_LT(sent(), 4);  // 3000 bytes in all, segments charged 64 bytes each
  for (std::uint64_t s = 1; s <= 10; ++s) {
    pair.b_in.open({1, s, 0, 0}, "d", &pair.b);
    pair.b_out.open({1, s, 0, 0}, "d", 500, &pair.b);
    pair.move();
  }
  EXPECT_EQ(sent(), 10);
}

TEST(Matching, ClosedOperationsSettleTheirAccountWhenCreditComes) {
  Pair pair;
  const std::string payload(500, 'x');
  for (std::uint64_t s = 1; s <= 100; ++s) {
    std::string target(500, '.');
    RecordingOperation a, b;
    pair.a_out.open({1, s, 0, 0}, "d", 0, &a);
    pair.a_out.send({1, s, 0, 0}, 0, as_bytes(payload), 0);
    pair.move();
    ASSERT_EQ(a.sent.size(), 1u) << "operation " << s;
    pair.a_out.close({1, s, 0, 0});
    pair.b_in.open({1, s, 0, 0}, "d", &b);
    pair.b_out.open({1, s, 0, 0}, "d", 500, &b);
    pair.b_in.receive({1, s, 0, 0}, 0, std::as_writable_bytes(std::span(target)), 0);
    pair.move();
    ASSERT_EQ(b.received.size(), 1u);
    pair.b_in.close({1, s, 0, 0});
    pair.b_out.close({1, s, 0, 0});
  }
}

TEST(Matching, OtherDescriptorIsAMismatchWhicheverComesFirst) {
  const std::string payload(10, 'x');
  {
    Pair pair;
    pair.a_out.open(kFirst, "mine", 0, &pair.a);
    pair.a_out.send(kFirst, 0, as_bytes(payload), 0);
    pair.move();
    pair.b_in.open(kFirst, "yours", &pair.b);
    EXPECT_EQ(pair.b.mismatches, std::vector<std::string>{"mine"});
  }
  Pair pair;
  pair.b_in.open(kFirst, "yours", &pair.b);
  pair.a_out.open(kFirst, "mine", 0, &pair.a);
  pair.a_out.send(kFirst, 0, as_bytes(payload), 0);
  pair.move();
  EXPECT_EQ(pair.b.mismatches, std::vector<std::string>{"mine"});
}

TEST(Matching, ATransferOfAnotherLengthNeverWritesOutsideItsTarget) {
  Pair pair;
  const std::string payload(20, 'x');
  std::string target(10, '.');
  pair.b_in.open(kFirst, "d", &pair.b);
  pair.b_in.receive(kFirst, 0, std::as_writable_bytes(std::span(target)), 0);
  pair.a_out.open(kFirst, "d", 0, &pair.a);
  pair.a_out.send(kFirst, 0, as_bytes(payload), 0);
  pair.move();
  EXPECT_EQ(pair.b.wrong_sizes, (std::vector<std::pair<std::uint32_t, std::uint64_t>>{{0, 20}}));
  EXPECT_EQ(target, std::string(10, '.'));
}

TEST(Matching, APeerThatIgnoresItsLimitsIsCorrupt) {
  Inbound inbound(kLimits);
  Frame frame;
  frame.header.operation = kFirst;
  const std::string payload(400, 'x');
  frame.payload = as_bytes(payload);
  frame.header.transfer_bytes = 100000;
  Status status;
  int accepted = 0;
  while (status.ok() && accepted < 100) {
    status = inbound.on_data(frame);
    if (status.ok()) ++accepted;
  }
  EXPECT_EQ(status.code(), StatusCode::kCorruption);
  EXPECT_EQ(accepted, 2);
}

TEST(Matching, ForgottenCommunicatorsAreDropped) {
  Pair pair;
  const std::string payload(10, 'x');
  pair.b_in.forget(1);
  pair.a_out.open(kFirst, "d", 0, &pair.a);
  pair.a_out.send(kFirst, 0, as_bytes(payload), 0);
  pair.move();
  pair.b_in.open(kFirst, "other", &pair.b);
  EXPECT_TRUE(pair.b.mismatches.empty());
}

struct RecordingListener final : CallListener {
  std::vector<std::string> calls;
  void on_call(std::uint32_t rank, std::uint64_t sequence, std::string_view descriptor) override {
    calls.push_back(std::to_string(rank) + " #" + std::to_string(sequence) + " " + std::string(descriptor));
  }
};

TEST(Matching, ListenersHearOfCallsByDataAndByCreditBeforeAndAfterTheOwn) {
  Pair pair;
  RecordingListener listener;
  const std::string payload(10, 'x');
  pair.a_out.open(kFirst, "early", 8, &pair.a);  // credit: the communicator is not known yet
  pair.move();
  pair.b_in.watch(1, 4, &listener);
  EXPECT_EQ(listener.calls, std::vector<std::string>{"4 #1 early"});
  pair.b_in.open(kSecond, "mine", &pair.b);
  pair.b_in.close(kSecond);
  pair.a_out.open(kSecond, "theirs", 0, &pair.a);
  pair.a_out.send(kSecond, 0, as_bytes(payload), 0);
  pair.move();
  EXPECT_EQ(listener.calls.back(), "4 #2 theirs");
  EXPECT_TRUE(pair.b.mismatches.empty());
  pair.b_in.forget(1);
  pair.a_out.open({1, 3, 0, 0}, "later", 8, &pair.a);
  pair.move();
  EXPECT_EQ(listener.calls.size(), 2u);
}

TEST(Matching, ARefusedMessageIsDroppedAndItsSenderIsNotHeldUp) {
  constexpr OperationKey kMessage{1, 1, 3, 7}, kNext{1, 2, 3, 7};
  Pair pair;
  const std::string big(5000, 'x');
  pair.a_out.open(kMessage, "5000", 0, &pair.a);
  pair.a_out.send(kMessage, 0, as_bytes(big), 1);
  pair.move();
  EXPECT_GT(pair.b_in.arrival(kMessage), 0u);
  EXPECT_EQ(pair.b_in.arrival(kNext), 0u);
  pair.b_out.open(kMessage, "10", 10, &pair.b);
  pair.b_in.open(kMessage, "10", &pair.b);
  EXPECT_EQ(pair.b.mismatches, std::vector<std::string>{"5000"});
  pair.b_out.grant_all(kMessage);
  pair.b_out.close(kMessage);
  pair.b_in.refuse(kMessage);
  pair.move();
  EXPECT_EQ(pair.a.sent, std::vector<std::uint32_t>{1});
  EXPECT_EQ(pair.b_in.arrival(kMessage), 0u);

  std::string target(10, '.');  // the pair goes on
  RecordingOperation a, b;
  pair.a_out.open(kNext, "10", 0, &a);
  pair.a_out.send(kNext, 0, as_bytes(big).first(10), 2);
  pair.b_out.open(kNext, "10", 10, &b);
  pair.b_in.open(kNext, "10", &b);
  pair.b_in.receive(kNext, 0, std::as_writable_bytes(std::span(target)), 3);
  pair.move();
  EXPECT_EQ(b.received, std::vector<std::uint32_t>{3});
}

TEST(Matching, EmptyTransfersArrive) {
  Pair pair;
  pair.a_out.open(kFirst, "d", 0, &pair.a);
  pair.a_out.send(kFirst, 0, {}, 5);
  pair.b_in.open(kFirst, "d", &pair.b);
  pair.b_in.receive(kFirst, 0, {}, 6);
  pair.move();
  EXPECT_EQ(pair.a.sent, std::vector<std::uint32_t>{5});
  EXPECT_EQ(pair.b.received, std::vector<std::uint32_t>{6});
}

}  // namespace
}  // namespace isthmus
