// What a mesh makes of resets, silence, strangers and peers of another version; and the secrets of its pairs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "runtime/control/poll_fd.h"
#include "runtime/control/tcp_control.h"
#include "tests/runtime/bootstrap/fault_network.h"
#include "tests/runtime/bootstrap/mesh_world.h"

namespace isthmus {
namespace {

using std::chrono::milliseconds;
using testing::FaultNetwork;
using ::testing::HasSubstr;
using testing::MeshWorld;
using testing::Witness;

TimePoint in(Duration time) { return SteadyClock::instance().now() + time; }

PeerMeshOptions quick(Duration link_grace) {
  PeerMeshOptions options;
  options.heartbeat_interval = milliseconds(20);
  options.suspect_after = milliseconds(500);
  options.link_grace = link_grace;
  return options;
}

class FaultyMeshTest : public MeshWorld<FaultNetwork> {
 protected:
  Key secret(std::size_t mesh, ProcessId peer) {
    const Result<Key> key = meshes_[mesh]->link_secret(peer);
    EXPECT_TRUE(key.ok()) << key.status().to_string();
    return key.ok() ? *key : Key{};
  }
  void expect_nobody_dead() {
    for (const auto& witness : witnesses_) {
      const std::lock_guard lock(witness->mutex);
      EXPECT_TRUE(witness->dead.empty()) << witness->death_message;
    }
  }
  // Until pings come back, over whatever connection.
  void expect_contact(std::size_t mesh, ProcessId peer, Duration limit) {
    const TimePoint deadline = in(limit);
    Status last = deadline_exceeded("not tried");
    while (!last.ok() && SteadyClock::instance().now() < deadline)
      last = meshes_[mesh]->measure_round_trip(peer, 1, in(milliseconds(100))).status();
    EXPECT_TRUE(last.ok()) << mesh << " -> " << peer << ": " << last.to_string();
  }
};

TEST_F(FaultyMeshTest, EachPairHasOneSecretForLife) {
  start(3, quick(std::chrono::seconds(20)));
  const Key first = secret(0, 101), second = secret(0, 102), third = secret(1, 102);
  EXPECT_NE(first, second);
  EXPECT_NE(second, third);
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(secret(1, 100), first);
    EXPECT_EQ(secret(2, 100), second);
    EXPECT_EQ(secret(2, 101), third);
    network_.reset_all();
    if (round % 2 == 0) network_.reset_all();  // while they are made anew
    for (const std::size_t mesh : {0u, 1u, 2u})
      for (const std::size_t peer : {0u, 1u, 2u})
        if (peer != mesh) expect_contact(mesh, 100 + peer, std::chrono::seconds(10));
  }
  EXPECT_EQ(secret(0, 101), first);
  expect_nobody_dead();
}

TEST_F(FaultyMeshTest, ASilentPathIsToldAndANewConnectionIsMadeWhenItSpeaksAgain) {
  start(2, quick(std::chrono::seconds(30)));
  const Key key = secret(0, 101);
  network_.silence(true);
  for (auto& witness : witnesses_) {
    EXPECT_TRUE(witness->wait([&] { return witness->silences == std::vector<bool>{true}; })) << "a missed heartbeat";
    EXPECT_TRUE(witness->wait([&] { return !witness->suspects.empty(); }));
  }
  network_.silence(false);  // the old connections stay stalled
  const TimePoint again = SteadyClock::instance().now();
  for (auto& witness : witnesses_)
    EXPECT_TRUE(witness->wait([&] { return witness->silences == (std::vector<bool>{true, false}); }));
  EXPECT_LT(SteadyClock::instance().now() - again, std::chrono::seconds(3)) << "dialled anew, not waited for";
  expect_contact(0, 101, std::chrono::seconds(5));
  EXPECT_EQ(secret(0, 101), key);
  EXPECT_EQ(secret(1, 100), key);
  expect_nobody_dead();
}

TEST_F(FaultyMeshTest, FT01_APeerThatIsSilentForGoodIsDeadAtLinkGrace) {
  start(2, quick(milliseconds(1500)));
  const TimePoint silent = SteadyClock::instance().now();
  network_.silence(true);
  for (auto& witness : witnesses_) {
    EXPECT_TRUE(witness->wait([&] { return !witness->dead.empty(); }));
    EXPECT_THAT(witness->death_message, HasSubstr("silent for"));
    EXPECT_THAT(witness->death_message, HasSubstr("limit 1.5 s"));
  }
  EXPECT_GE(SteadyClock::instance().now() - silent, milliseconds(1400)) << "not at the first attempt that hangs";
}

// ---------------------------------------------------------------------------------------------------- strange peers

class StrangePeerTest : public ::testing::Test {
 protected:
  static constexpr ProcessId kSmall = 5, kMesh = 50, kLarge = 500;

  StrangePeerTest() {
    mesh_ = PeerMesh::create({}, &network_, kMesh, &witness_).value();
    address_ = mesh_->listen("127.0.0.1", "", 0, 0).value();
    listener_ = network_.listen("127.0.0.1", "", 0, 0).value();
  }
  Status connect(ProcessId peer, Duration limit) {
    ProcessInfo info;
    info.process = peer;
    info.control_addresses = {listener_->address()};
    return mesh_->connect({info}, {"rank 7 (site b)"}, in(limit));
  }
  static MeshMessage message(MeshMessageKind kind, std::uint32_t version) {
    MeshMessage result;
    result.kind = kind;
    result.version = version;
    return result;
  }

  TcpControlNetwork network_;
  Witness witness_;
  std::unique_ptr<PeerMesh> mesh_;
  std::string address_;
  std::unique_ptr<ControlListener> listener_;  // of the strange peer
};

TEST_F(StrangePeerTest, FT01_APeerThatTakesConnectionsAndSaysNothingIsNamedInTime) {
  const TimePoint start = SteadyClock::instance().now();
  const Status status = connect(kLarge, milliseconds(700));  // this side dials; the kernel of the other one answers
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr("rank 7 (site b)"));
  EXPECT_THAT(status.message(), HasSubstr(listener_->address()));
  EXPECT_LT(SteadyClock::instance().now() - start, std::chrono::seconds(3));
}

TEST_F(StrangePeerTest, FT01_APeerThatDialsAndSaysNothingIsNamedInTime) {
  const auto silent = network_.connect(address_, in(milliseconds(5000))).value();
  const TimePoint start = SteadyClock::instance().now();
  const Status status = connect(kSmall, milliseconds(700));
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr("rank 7 (site b)"));
  EXPECT_LT(SteadyClock::instance().now() - start, std::chrono::seconds(3));
}

TEST_F(StrangePeerTest, MX01_ADiallerOfAnotherVersionHearsBothVersions) {
  const auto peer = network_.connect(address_, in(milliseconds(5000))).value();
  MeshMessage hello = message(MeshMessageKind::kHello, kProtocolVersion + 1);
  ASSERT_TRUE(send_message(*peer, encode_mesh_message(hello), in(milliseconds(5000))).ok());
  const Result<MeshMessage> refusal = decode_mesh_message(receive_message(*peer, in(milliseconds(5000))).value());
  ASSERT_TRUE(refusal.ok());
  EXPECT_EQ((*refusal).kind, MeshMessageKind::kRefusal);
  EXPECT_THAT((*refusal).text, HasSubstr(fmt::format("version {}", kProtocolVersion)));
  EXPECT_THAT((*refusal).text, HasSubstr(fmt::format("{}", kProtocolVersion + 1)));
  const Status status = connect(kSmall, milliseconds(300));  // who waits for that peer is told, too
  EXPECT_THAT(status.message(), HasSubstr(fmt::format("protocol version {}", kProtocolVersion + 1)));
}

TEST_F(StrangePeerTest, MX01_APeerThatRefusesTheVersionEndsTheWait) {
  std::thread peer([&] {
    EXPECT_TRUE(*poll_fd(listener_->fd(), PollFor::kReading, in(std::chrono::seconds(5))));
    const auto stream = listener_->accept().value();
    EXPECT_TRUE(receive_message(*stream, in(std::chrono::seconds(5))).ok());
    MeshMessage refusal = message(MeshMessageKind::kRefusal, kProtocolVersion + 1);
    refusal.text = "this side speaks version 2, the peer 1";
    EXPECT_TRUE(send_message(*stream, encode_mesh_message(refusal), in(std::chrono::seconds(5))).ok());
    (void)receive_message(*stream, in(std::chrono::seconds(5)));
  });
  const TimePoint start = SteadyClock::instance().now();
  const Status status = connect(kLarge, std::chrono::seconds(30));
  EXPECT_LT(SteadyClock::instance().now() - start, std::chrono::seconds(5));
  EXPECT_EQ(status.code(), StatusCode::kUnsupported) << status.to_string();
  EXPECT_THAT(status.message(), HasSubstr("rank 7 (site b)"));
  EXPECT_THAT(status.message(), HasSubstr("this side speaks version 2, the peer 1"));
  peer.join();
}

TEST_F(StrangePeerTest, SE03_APeerWithASecretIsRefusedAtOnce) {
  const auto secured = TlsControlNetwork::create(*JobSecret::generate(), CipherKind::kAes256Gcm).value();
  listener_ = secured->listen("127.0.0.1", "", 0, 0).value();
  std::atomic<bool> done{false};
  std::thread peer([&] {
    while (!done) {
      (void)listener_->accept();
      (void)poll_fd(listener_->fd(), PollFor::kReading, in(milliseconds(10)));
    }
  });
  const TimePoint start = SteadyClock::instance().now();
  const Status status = connect(kLarge, std::chrono::seconds(30));
  EXPECT_LT(SteadyClock::instance().now() - start, std::chrono::seconds(5));
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << status.to_string();
  EXPECT_THAT(status.message(), HasSubstr("authentication failed: the peer has a job secret, this process uses none"));
  done = true;
  peer.join();
}

}  // namespace
}  // namespace isthmus
