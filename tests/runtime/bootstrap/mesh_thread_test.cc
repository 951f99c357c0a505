// Meshes in one process: messages, floods, pings, goodbyes, deaths and silence.
#include "runtime/bootstrap/mesh_thread.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "runtime/control/memory_control.h"
#include "runtime/control/tcp_control.h"
#include "tests/runtime/bootstrap/mesh_world.h"

namespace isthmus {
namespace {

using testing::MeshWorld;

template <typename Network>
class MeshTest : public MeshWorld<Network> {};

using Networks = ::testing::Types<MemoryControlNetwork, TcpControlNetwork>;
TYPED_TEST_SUITE(MeshTest, Networks);

TYPED_TEST(MeshTest, MessagesArriveInOrderAndFloodsOnce) {
  this->start(4);
  for (int i = 0; i < 20; ++i) this->meshes_[1]->send(100, fmt::format("{}", i));
  this->meshes_[2]->broadcast("all");
  EXPECT_TRUE(this->witnesses_[0]->wait([&] { return this->witnesses_[0]->messages.size() == 21; }));
  int next = 0;
  for (const auto& [from, text] : this->witnesses_[0]->messages) {
    if (from == 101) {
      EXPECT_EQ(text, fmt::format("{}", next++));
    }
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (const std::size_t other : {0u, 1u, 3u}) {
    std::lock_guard lock(this->witnesses_[other]->mutex);
    const auto& messages = this->witnesses_[other]->messages;
    EXPECT_EQ(std::count(messages.begin(), messages.end(), std::pair<ProcessId, std::string>(102, "all")), 1);
  }
}

TYPED_TEST(MeshTest, RoundTripsAreMeasured) {
  this->start(2);
  const Result<Duration> trip = this->meshes_[0]->measure_round_trip(101, 5, this->soon());
  ASSERT_TRUE(trip.ok()) << trip.status().to_string();
  EXPECT_GT(*trip, Duration::zero());
  EXPECT_LT(*trip, std::chrono::seconds(1));
}

TYPED_TEST(MeshTest, AGoodbyeIsNoDeath) {
  this->start(3);
  this->meshes_[1]->goodbye(this->soon());
  this->meshes_[1].reset();
  for (const std::size_t other : {0u, 2u}) {
    EXPECT_TRUE(this->witnesses_[other]->wait([&] { return this->witnesses_[other]->gone.size() == 1; }));
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  for (const std::size_t other : {0u, 2u}) {
    std::lock_guard lock(this->witnesses_[other]->mutex);
    EXPECT_TRUE(this->witnesses_[other]->dead.empty());
  }
}

TYPED_TEST(MeshTest, AProcessThatEndsWithoutGoodbyeIsDeadForAll) {
  this->start(4);
  this->meshes_[2].reset();
  for (const std::size_t other : {0u, 1u, 3u}) {
    EXPECT_TRUE(this->witnesses_[other]->wait([&] { return !this->witnesses_[other]->dead.empty(); })) << other;
    std::lock_guard lock(this->witnesses_[other]->mutex);
    EXPECT_EQ(this->witnesses_[other]->dead, std::vector<ProcessId>{102});
    EXPECT_FALSE(this->witnesses_[other]->death_message.empty());
  }
}

TYPED_TEST(MeshTest, APeerThatNeverComesIsNamed) {
  this->start(1);
  ProcessInfo absent;
  absent.process = 999;
  absent.control_addresses = this->infos_[0].control_addresses;  // another process listens there
  const Status status = this->meshes_[0]->connect(
      {absent}, {"rank 7"}, deadline_after(SteadyClock::instance().now(), std::chrono::milliseconds(400)));
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.to_string();
  EXPECT_NE(status.message().find("rank 7"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find(absent.control_addresses[0]), std::string::npos) << status.message();
}

TEST(MeshMessage, RoundTripAndHostileInput) {
  MeshMessage message;
  message.kind = MeshMessageKind::kDeath;
  message.process = 5;
  message.number = 6;
  message.subject = 7;
  message.text = "why";
  const std::string bytes = encode_mesh_message(message);
  const Result<MeshMessage> decoded = decode_mesh_message(bytes);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ((*decoded).subject, 7u);
  EXPECT_EQ((*decoded).text, "why");
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(decode_mesh_message(std::string_view(bytes).substr(0, length)).ok()) << length;
  EXPECT_FALSE(decode_mesh_message(bytes + "x").ok());
}

}  // namespace
}  // namespace isthmus
