#include "tests/support/schedule_check.h"

#include <gtest/gtest.h>

#include <array>

#include "collectives/schedule/builder.h"
#include "tests/support/schedule_executor.h"

// The checker finds each kind of defect: schedules that are right but for one thing.
namespace isthmus::testing {
namespace {

constexpr std::size_t kBytes = 16;
const std::vector<BufferLayout> kApart(2, BufferLayout::apart(kBytes, kBytes));
const std::vector<BufferLayout> kInPlace(2, BufferLayout::in_place(kBytes));

struct Fault {
  std::size_t receive_bytes = kBytes;
  std::uint32_t receive_round = 0;
  std::size_t offset = 0;
  bool depend = true;
  Space target = Space::kOutput;
};

// Two ranks swap their input into their output.
std::vector<Schedule> swap(const Fault& fault) {
  std::vector<Schedule> schedules;
  for (int rank = 0; rank < 2; ++rank) {
    ScheduleBuilder builder(DataType::kUInt8, ReduceOp::kSum);
    const StepIndex sent = builder.send(1 - rank, 0, {Space::kInput, 0}, kBytes, {});
    builder.receive(1 - rank, fault.receive_round, {fault.target, fault.offset}, fault.receive_bytes,
                    After(fault.depend ? sent : kNoStep));
    schedules.push_back(builder.take());
  }
  return schedules;
}

TEST(ScheduleCheck, NothingIsWrongWithARightOne) {
  EXPECT_EQ(find_defect(swap({}), kApart), "");
  EXPECT_EQ(find_defect(swap({}), kInPlace), "");
  EXPECT_EQ(find_defect(swap({.depend = false}), kApart), "");
}

TEST(ScheduleCheck, FindsARaceInPlace) {
  EXPECT_NE(find_defect(swap({.depend = false}), kInPlace).find("touch the same bytes"), std::string::npos);
}

TEST(ScheduleCheck, FindsUnequalTransfers) {
  EXPECT_NE(find_defect(swap({.receive_bytes = 15}), kApart).find("16 bytes sent, 15 received"), std::string::npos);
  EXPECT_NE(find_defect(swap({.receive_round = 1}), kApart).find("is not received"), std::string::npos);
  std::vector<Schedule> one_sided = swap({});
  one_sided[0] = Schedule();
  EXPECT_NE(find_defect(one_sided, kApart), "");
}

TEST(ScheduleCheck, FindsWhatIsOutOfBoundsOrReadOnly) {
  EXPECT_NE(find_defect(swap({.offset = 1}), kApart).find("out of bounds"), std::string::npos);
  EXPECT_NE(find_defect(swap({.target = Space::kInput}), kApart).find("writes to the input"), std::string::npos);
  EXPECT_NE(find_defect(swap({.target = Space::kScratch}), kApart).find("out of bounds"), std::string::npos);
}

TEST(ScheduleCheck, FindsARoundUsedTwiceAndADependencyOnALaterStep) {
  ScheduleBuilder builder(DataType::kUInt8, ReduceOp::kSum);
  builder.send(1, 0, {Space::kInput, 0}, 1, {});
  builder.send(1, 0, {Space::kInput, 1}, 1, {});
  EXPECT_NE(find_defect({builder.take(), Schedule()}, kApart).find("occurs twice"), std::string::npos);

  ScheduleBuilder circle(DataType::kUInt8, ReduceOp::kSum);
  circle.copy({Space::kOutput, 0}, {Space::kInput, 0}, 1, After(0));
  EXPECT_NE(find_defect({circle.take(), Schedule()}, kApart).find("depends on step 0"), std::string::npos);
}

TEST(ScheduleExecutor, NoticesADeadlockAndMovesTheRightBytes) {
  // Each rank receives before it sends.
  std::vector<Schedule> schedules;
  for (int rank = 0; rank < 2; ++rank) {
    ScheduleBuilder builder(DataType::kUInt8, ReduceOp::kSum);
    const StepIndex received = builder.receive(1 - rank, 0, {Space::kOutput, 0}, kBytes, {});
    builder.send(1 - rank, 0, {Space::kInput, 0}, kBytes, After(received));
    schedules.push_back(builder.take());
  }
  std::vector<ScheduleMemory> memories(2, ScheduleMemory(kApart[0], 0));
  EXPECT_NE(ScheduleExecutor(schedules, &memories, SendMode::kEager, 1).run().find("stuck"), std::string::npos);

  const std::vector<Schedule> right = swap({.depend = false});
  memories[0].input()[3] = std::byte{9};
  EXPECT_EQ(ScheduleExecutor(right, &memories, SendMode::kRendezvous, 1).run(), "");
  EXPECT_EQ(memories[1].output()[3], std::byte{9});
}

// Without credit, two sends that wait for each other's receive stand still; with it, they do not.
TEST(ScheduleExecutor, RendezvousIsStricterThanEager) {
  const std::vector<Schedule> schedules = swap({});
  std::vector<ScheduleMemory> memories(2, ScheduleMemory(kInPlace[0], 0));
  EXPECT_EQ(ScheduleExecutor(schedules, &memories, SendMode::kEager, 1).run(), "");
  EXPECT_NE(ScheduleExecutor(schedules, &memories, SendMode::kRendezvous, 1).run(), "");
}

}  // namespace
}  // namespace isthmus::testing
