// Operations over channels that only record, so that order, dependencies and failure can be checked step by step.
#include "runtime/engine/operation.h"

#include <gtest/gtest.h>

#include <optional>

#include "runtime/engine/worker_pool.h"

namespace isthmus {
namespace {

struct RecordingChannel final : Channel {
  struct Post {
    bool is_send;
    std::uint32_t round, step;
  };
  ChannelOperation* operation = nullptr;
  std::uint64_t credit = 0;
  std::vector<Post> posts;
  int closes = 0, refusals = 0;

  void open(const OperationKey&, std::string_view, std::uint64_t receive_bytes, ChannelOperation* opened) override {
    credit = receive_bytes;
    operation = opened;
  }
  void send(const OperationKey&, std::uint32_t round, ConstBytes, std::uint32_t step) override {
    posts.push_back({true, round, step});
  }
  void receive(const OperationKey&, std::uint32_t round, MutableBytes, std::uint32_t step) override {
    posts.push_back({false, round, step});
  }
  void expect(const OperationKey&) override {}
  void close(const OperationKey&) override { ++closes; }
  void refuse(const OperationKey&) override { ++refusals; }
  std::uint64_t arrival(const OperationKey&) const override { return 0; }
  void watch(std::uint64_t, std::uint32_t, CallListener*) override {}
  void forget(std::uint64_t) override {}
  Status status() const override { return Status(); }
  bool drained() const override { return true; }
};

class OperationTest : public testing::Test, public OperationHost {
 protected:
  Channel* channel(std::uint32_t) override { return &channel_; }
  const std::string& member_name(std::uint32_t) const override { return name_; }
  const Clock& clock() const override { return clock_; }
  WorkerPool& workers() override { return workers_; }
  void post(std::function<void()> fn) override { fn(); }
  void operation_done(const OperationKey&) override { ++done_; }
  void operation_failed(const OperationKey&, const Status& why) override { failure_ = why; }

  // Receive into scratch, add it to the input, send the sum: each step waits for the one before.
  OperationRequest chain() {
    auto schedule = std::make_shared<Schedule>();
    schedule->type = DataType::kInt32;
    schedule->scratch_bytes = 8;
    schedule->operands = {{{Space::kInput, 0}}, {{Space::kScratch, 0}}};
    schedule->dependencies = {0, 1};
    Step receive, sum, send;
    receive.kind = StepKind::kReceive;
    receive.region = {Space::kScratch, 0};
    receive.bytes = 8;
    sum.kind = StepKind::kReduce;
    sum.region = {Space::kOutput, 0};
    sum.count = 2;
    sum.operand_count = 2;
    sum.dependency_count = 1;
    send.kind = StepKind::kSend;
    send.region = {Space::kOutput, 0};
    send.bytes = 8;
    send.round = 1;
    send.first_dependency = 1;
    send.dependency_count = 1;
    schedule->steps = {receive, sum, send};
    OperationRequest request;
    request.what = "sum #1";
    request.schedule = std::move(schedule);
    request.input = input_;
    request.output = output_;
    request.timeout = std::chrono::seconds(10);
    request.on_done = [this](const Status& status) { reported_ = status; };
    request.describe = [](std::string_view theirs) { return "calls " + std::string(theirs); };
    return request;
  }

  std::int32_t input_[2] = {1, 2}, output_[2] = {0, 0};
  RecordingChannel channel_;
  std::string name_ = "rank 1 (site b)";
  ManualClock clock_;
  WorkerPool workers_{0, "test"};
  int done_ = 0;
  Status failure_;
  std::optional<Status> reported_;
};

TEST_F(OperationTest, StepsRunAsTheirDependenciesAllow) {
  Operation operation(chain(), this);
  operation.start();
  EXPECT_EQ(channel_.credit, 8u);
  ASSERT_EQ(channel_.posts.size(), 1u);
  EXPECT_FALSE(channel_.posts[0].is_send);
  channel_.operation->on_received(0);
  ASSERT_EQ(channel_.posts.size(), 2u);
  EXPECT_TRUE(channel_.posts[1].is_send);
  EXPECT_FALSE(operation.ended());
  channel_.operation->on_sent(2);
  EXPECT_TRUE(operation.ended() && operation.quiet() && operation.succeeded());
  EXPECT_EQ(done_, 1);
  EXPECT_EQ(channel_.closes, 1);
  operation.report();
  operation.report();
  ASSERT_TRUE(reported_.has_value());
  EXPECT_TRUE(reported_->ok());
}

TEST_F(OperationTest, PayloadStartsTheTimeoutAnew) {
  Operation operation(chain(), this);
  operation.start();
  clock_.advance(std::chrono::seconds(9));
  channel_.operation->on_advance();
  EXPECT_EQ(operation.deadline(), clock_.now() + std::chrono::seconds(10));
  clock_.advance(std::chrono::seconds(10));
  const Status status = operation.timeout_status();
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_NE(status.message().find("waits for rank 1 (site b)"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("19.0 s since the start"), std::string::npos) << status.message();
}

TEST_F(OperationTest, AFailureEndsItOnceAndClosesItsChannels) {
  Operation operation(chain(), this);
  operation.start();
  operation.fail(aborted("enough"));
  operation.fail(aborted("again"));
  EXPECT_EQ(done_, 1);
  EXPECT_EQ(channel_.closes, 1);
  channel_.operation->on_received(0);  // late news changes nothing
  EXPECT_EQ(channel_.posts.size(), 1u);
  operation.report();
  EXPECT_EQ(reported_->message(), "enough");
}

TEST_F(OperationTest, AMismatchNamesThePeerAndBothCalls) {
  Operation operation(chain(), this);
  operation.start();
  channel_.operation->on_mismatch("something else");
  EXPECT_EQ(failure_.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(failure_.message(), "sum #1: rank 1 (site b) calls something else");
}

TEST_F(OperationTest, AMemberThatLeftIsMissedOnlyWhileAStepMovesDataFromOrToIt) {
  Operation operation(chain(), this);
  operation.start();
  EXPECT_FALSE(operation.waits_for(5));
  EXPECT_TRUE(operation.waits_for(0));
  const Status left = operation.left_status(0);
  EXPECT_EQ(left.code(), StatusCode::kUnavailable);
  EXPECT_EQ(left.message(), "sum #1: rank 1 (site b) has left the group; waits for rank 1 (site b)");
  channel_.operation->on_received(0);
  EXPECT_TRUE(operation.waits_for(0)) << "the sum is to be sent to it";
  channel_.operation->on_sent(2);
  EXPECT_FALSE(operation.waits_for(0));
}

TEST_F(OperationTest, AnEmptyScheduleIsDoneAtOnce) {
  OperationRequest request = chain();
  request.schedule = std::make_shared<Schedule>();
  Operation operation(std::move(request), this);
  operation.start();
  EXPECT_TRUE(operation.ended() && operation.succeeded());
  EXPECT_EQ(done_, 1);
}

}  // namespace
}  // namespace isthmus
