// Meshes in one process: messages, floods, pings, goodbyes, deaths and silence.
#include "runtime/bootstrap/mesh_thread.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "runtime/control/memory_control.h"
#include "runtime/control/tcp_control.h"

namespace isthmus {
namespace {

struct Witness final : PeerMeshHandler {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::pair<ProcessId, std::string>> messages;
  std::vector<ProcessId> dead, suspects, gone;
  std::vector<bool> silences;
  std::string death_message;

  template <typename Done>
  bool wait(Done done) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(10), done);
  }
  void note(const std::function<void()>& fn) {
    std::lock_guard lock(mutex);
    fn();
    changed.notify_all();
  }
  void on_message(ProcessId from, std::string_view text) override {
    note([&] { messages.emplace_back(from, text); });
  }
  void on_peer_dead(ProcessId peer, const Status& why) override {
    note([&] {
      dead.push_back(peer);
      death_message = why.message();
    });
  }
  void on_peer_suspect(ProcessId peer, const std::string&, Duration) override {
    note([&] { suspects.push_back(peer); });
  }
  void on_path_silent(ProcessId, bool silent) override {
    note([&] { silences.push_back(silent); });
  }
  void on_goodbye(ProcessId peer) override {
    note([&] { gone.push_back(peer); });
  }
};

template <typename Network>
class MeshTest : public testing::Test {
 protected:
  void start(int count, const PeerMeshOptions& options = {}) {
    for (int i = 0; i < count; ++i) {
      witnesses_.push_back(std::make_unique<Witness>());
      ProcessInfo info;
      info.process = static_cast<ProcessId>(100 + i);
      meshes_.push_back(PeerMesh::create(options, &network_, info.process, witnesses_.back().get()).value());
      info.control_addresses = {meshes_.back()->listen("127.0.0.1", "", 0, 0).value()};
      infos_.push_back(info);
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([this, i] {
        std::vector<ProcessInfo> peers;
        std::vector<std::string> names;
        for (std::size_t j = 0; j < infos_.size(); ++j) {
          if (static_cast<int>(j) == i) continue;
          peers.push_back(infos_[j]);
          names.push_back(fmt::format("rank {}", j));
        }
        const Status status = meshes_[static_cast<std::size_t>(i)]->connect(peers, names, soon());
        EXPECT_TRUE(status.ok()) << status.to_string();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  static TimePoint soon() { return deadline_after(SteadyClock::instance().now(), std::chrono::seconds(10)); }

  Network network_;
  std::vector<std::unique_ptr<Witness>> witnesses_;
  std::vector<ProcessInfo> infos_;
  std::vector<std::unique_ptr<PeerMesh>> meshes_;
};

using Networks = testing::Types<MemoryControlNetwork, TcpControlNetwork>;
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
