// What TLS adds to the contract of control streams (control_stream_test): who gets in, and what the others cost.
#include "runtime/control/tls_control.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <filesystem>
#include <mutex>
#include <random>
#include <thread>

#include "runtime/base/log.h"
#include "runtime/control/poll_fd.h"
#include "runtime/control/tcp_control.h"
#include "runtime/control/tcp_socket.h"
#include "runtime/control/tls_listener.h"
#include "tests/runtime/control/stream_pair.h"

namespace isthmus {
namespace {

using std::chrono::milliseconds;
using testing::connect_pair;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::StreamPair;

// The value of a result that must be one.
template <typename T>
T take(Result<T> result) {
  EXPECT_TRUE(result.ok()) << result.status().to_string();
  return std::move(result).value();
}

TimePoint in(Duration time) { return SteadyClock::instance().now() + time; }

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

class TlsControlTest : public ::testing::Test {
 protected:
  TlsControlTest() {
    set_log_sink(LogLevel::kWarning, [this](LogLevel, std::string_view line) {
      const std::lock_guard lock(mutex_);
      log_ += std::string(line) + "\n";
    });
    network_ = make(secret_);
    listener_ = take(network_->listen("127.0.0.1", "", 0, 0));
  }
  ~TlsControlTest() override { set_log_sink(LogLevel::kOff, {}); }

  static std::unique_ptr<TlsControlNetwork> make(const JobSecret& secret, CipherKind cipher = CipherKind::kAes256Gcm) {
    return take(TlsControlNetwork::create(secret, cipher));
  }
  std::string log() {
    const std::lock_guard lock(mutex_);
    return log_;
  }
  std::unique_ptr<SocketChannel> dial_raw() {
    auto channel = dial_tcp(listener_->address());
    EXPECT_TRUE(channel.ok());
    while (!*(*channel)->stand()) std::this_thread::sleep_for(milliseconds(1));
    return std::move(channel).value();
  }
  // Lets the listener work until `done`; nobody may get in.
  template <typename Done>
  void serve_strangers(Done done, Duration limit = std::chrono::seconds(10)) {
    const TimePoint deadline = in(limit);
    while (!done() && SteadyClock::instance().now() < deadline) {
      auto stream = listener_->accept();
      ASSERT_TRUE(stream.ok());
      ASSERT_EQ(*stream, nullptr) << "a stranger was let in";
      (void)poll_fd(listener_->fd(), PollFor::kReading, in(milliseconds(5)));
    }
    EXPECT_TRUE(done());
  }
  void expect_service() {
    const StreamPair pair = connect_pair(*network_, *listener_);
    ASSERT_TRUE(pair.client_status.ok()) << pair.client_status.to_string();
    ASSERT_TRUE(send_message(*pair.client, "hello", in(milliseconds(5000))).ok());
    EXPECT_EQ(*receive_message(*pair.server, in(milliseconds(5000))), "hello");
  }

  std::mutex mutex_;
  std::string log_;
  const JobSecret secret_ = *JobSecret::generate();
  std::unique_ptr<ControlNetwork> network_;
  std::unique_ptr<ControlListener> listener_;
};

TEST_F(TlsControlTest, EitherCipherOfTheClientIsTaken) {
  for (CipherKind cipher : {CipherKind::kAes256Gcm, CipherKind::kChaCha20Poly1305}) {
    const auto client = make(secret_, cipher);
    EXPECT_TRUE(connect_pair(*client, *listener_).client_status.ok());
  }
}

TEST_F(TlsControlTest, SE03_AWrongSecretFailsOnBothSidesAtTheFirstHandshake) {
  const JobSecret other = *JobSecret::generate();
  const StreamPair pair = connect_pair(*make(other), *listener_);
  EXPECT_EQ(pair.server, nullptr);
  EXPECT_EQ(pair.client_status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(pair.client_status.message(),
              HasSubstr("authentication failed: the two sides have different job secrets"));
  EXPECT_THAT(log(), HasSubstr("authentication failed: the two sides have different job secrets"));
  for (const std::string& text : {pair.client_status.message(), log()}) {
    EXPECT_THAT(text, Not(HasSubstr(secret_.text().substr(10, 8))));
    EXPECT_THAT(text, Not(HasSubstr(other.text().substr(10, 8))));
  }
  expect_service();
}

TEST_F(TlsControlTest, SE03_APlainClientIsRefusedOnBothSides) {
  TcpControlNetwork plain;
  const auto client = take(plain.dial(listener_->address()));
  Status status;
  serve_strangers([&] {
    std::string message;
    (void)client->flush();
    const Result<bool> received = client->receive(&message);
    status = received.status();
    return !received.ok();
  });
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("authentication failed: the peer has a job secret, this process uses none"));
  EXPECT_THAT(log(), HasSubstr("authentication failed: this process has a job secret, the peer uses none"));
  expect_service();
}

TEST_F(TlsControlTest, SE03_APlainServerIsRefusedOnBothSides) {
  TcpControlNetwork plain;
  const auto server = take(plain.listen("127.0.0.1", "", 0, 0));
  const auto client = take(network_->dial(server->address()));
  ASSERT_TRUE(*poll_fd(server->fd(), PollFor::kReading, in(milliseconds(5000))));
  const auto accepted = take(server->accept());
  Status client_status, server_status;
  const TimePoint deadline = in(milliseconds(5000));
  while ((client_status.ok() || server_status.ok()) && SteadyClock::instance().now() < deadline) {
    std::string message;
    if (client_status.ok()) client_status = client->flush().status();
    if (server_status.ok()) server_status = accepted->receive(&message).status();
  }
  EXPECT_EQ(client_status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(client_status.message(), HasSubstr("this process has a job secret, the peer uses none"));
  EXPECT_EQ(server_status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(server_status.message(), HasSubstr("the peer has a job secret, this process uses none"));
}

TEST_F(TlsControlTest, SE03_NothingReadableCrossesTheWire) {
  // A relay between client and listener keeps what both say.
  const BoundSocket bound = take(listen_tcp("127.0.0.1", "", 0, 0));
  const auto client = take(network_->dial(bound.address));
  std::unique_ptr<SocketChannel> front, back = dial_raw();
  std::unique_ptr<ControlStream> server;
  std::string wire;
  const std::string marker(4096, 'M');
  ASSERT_TRUE(client->send(marker).ok());
  std::string message;
  const TimePoint deadline = in(milliseconds(5000));
  while (message.empty() && SteadyClock::instance().now() < deadline) {
    if (front == nullptr) front = take(accept_tcp(bound.socket.get(), bound.address));
    if (front == nullptr) continue;
    char buffer[16384];
    for (auto [from, to] : {std::pair(front.get(), back.get()), std::pair(back.get(), front.get())}) {
      const Result<std::size_t> got = from->read(buffer, sizeof(buffer));
      ASSERT_TRUE(got.ok());
      wire.append(buffer, *got);
      for (std::size_t sent = 0; sent < *got;) sent += *to->write({buffer + sent, *got - sent});
    }
    ASSERT_TRUE(client->flush().ok());
    if (server == nullptr) {
      server = take(listener_->accept());
    } else {
      ASSERT_TRUE(server->receive(&message).ok());
    }
  }
  EXPECT_EQ(message, marker);
  EXPECT_GT(wire.size(), marker.size());
  EXPECT_THAT(wire, Not(HasSubstr("MMMM")));
  EXPECT_THAT(wire, Not(HasSubstr("ISTHMUS")));
}

TEST_F(TlsControlTest, AReplayedConnectionGetsNothing) {
  const BoundSocket bound = take(listen_tcp("127.0.0.1", "", 0, 0));
  const auto client = take(network_->dial(bound.address));
  std::unique_ptr<SocketChannel> front, back = dial_raw();
  std::unique_ptr<ControlStream> server;
  std::string said;  // by the client
  ASSERT_TRUE(client->send("secret order").ok());
  const TimePoint deadline = in(milliseconds(5000));
  for (std::string message; message.empty() && SteadyClock::instance().now() < deadline;) {
    if (front == nullptr) front = take(accept_tcp(bound.socket.get(), bound.address));
    if (front == nullptr) continue;
    char buffer[16384];
    const Result<std::size_t> up = front->read(buffer, sizeof(buffer));
    said.append(buffer, *up);
    ASSERT_TRUE(*up == 0 || *back->write({buffer, *up}) == *up);
    const Result<std::size_t> down = back->read(buffer, sizeof(buffer));
    ASSERT_TRUE(*down == 0 || *front->write({buffer, *down}) == *down);
    (void)client->flush();
    if (server == nullptr) {
      server = take(listener_->accept());
    } else {
      (void)server->receive(&message);
    }
  }
  ASSERT_NE(server, nullptr);
  const auto attacker = dial_raw();
  ASSERT_EQ(*attacker->write(said), said.size());
  serve_strangers([&] {
    char buffer[4096];
    return !attacker->read(buffer, sizeof(buffer)).ok();  // closed
  });
  expect_service();
}

TEST_F(TlsControlTest, RandomBytesGetNothing) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    const auto stranger = dial_raw();
    std::string bytes(1 + random() % 4000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    if (round % 2 == 0) bytes.replace(0, 3, "\x16\x03\x01");  // as a handshake begins
    ASSERT_EQ(*stranger->write(bytes), bytes.size());
    stranger->end_writing();
    serve_strangers([&] {
      char buffer[4096];
      return !stranger->read(buffer, sizeof(buffer)).ok();
    });
  }
  expect_service();
}

TEST_F(TlsControlTest, AStrangerMayNotTalkForLong) {
  const auto stranger = dial_raw();
  std::string bytes = "\x16\x03\x01\x40";  // a record of 16 KiB that never ends
  bytes += std::string(100, '\0');
  bool closed = false;
  std::size_t sent = 0;
  serve_strangers([&] {
    const Result<std::size_t> count = stranger->write(std::string(1024, 'x'));
    if (count.ok()) sent += *count;
    char buffer[4096];
    closed = !count.ok() || !stranger->read(buffer, sizeof(buffer)).ok();
    return closed;
  });
  EXPECT_LT(sent, 8u * 1024 * 1024);
}

TEST_F(TlsControlTest, EL08_AFloodOfStrangersNeitherKeepsOthersOutNorLeavesAnything) {
  expect_service();  // whatever is made once is made now
  const std::size_t before = open_descriptors();
  {
    std::vector<std::unique_ptr<SocketChannel>> strangers;
    for (int i = 0; i < 200; ++i) {
      strangers.push_back(dial_raw());
      if (i % 2 == 1) strangers.pop_back();
      if (i % 10 == 0) {
        EXPECT_EQ(take(listener_->accept()), nullptr);
      }
    }
    expect_service();
    EXPECT_LE(open_descriptors(), before + strangers.size() + TlsControlNetwork::kMaxHandshakes + 4);
  }
  serve_strangers([&] { return open_descriptors() <= before; });
}

TEST(TlsListenerTest, WhoDoesNotAuthenticateInTimeIsClosed) {
  const auto context = *TlsContext::create(*JobSecret::generate(), CipherKind::kAes256Gcm);
  const auto listener =
      take(TlsListener::create(context, take(listen_tcp("127.0.0.1", "", 0, 0)), {4, milliseconds(50)}));
  const auto silent = take(dial_tcp(listener->address()));
  const TimePoint start = SteadyClock::instance().now(), deadline = in(milliseconds(5000));
  bool closed = false;
  while (!closed && SteadyClock::instance().now() < deadline) {
    ASSERT_TRUE(*poll_fd(listener->fd(), PollFor::kReading, deadline)) << "the listener wakes for the deadline, too";
    ASSERT_EQ(take(listener->accept()), nullptr);
    char buffer[64];
    closed = *silent->stand() && !silent->read(buffer, sizeof(buffer)).ok();
  }
  EXPECT_TRUE(closed);
  EXPECT_GE(SteadyClock::instance().now() - start, milliseconds(50));
}

TEST(TlsListenerTest, TheOldestStrangerMakesRoom) {
  const auto context = *TlsContext::create(*JobSecret::generate(), CipherKind::kAes256Gcm);
  const auto listener =
      take(TlsListener::create(context, take(listen_tcp("127.0.0.1", "", 0, 0)), {2, std::chrono::seconds(60)}));
  std::vector<std::unique_ptr<SocketChannel>> strangers;
  for (int i = 0; i < 3; ++i) {
    strangers.push_back(take(dial_tcp(listener->address())));
    ASSERT_TRUE(*poll_fd(listener->fd(), PollFor::kReading, in(milliseconds(5000))));
    ASSERT_EQ(take(listener->accept()), nullptr);
    ASSERT_TRUE(*strangers.back()->stand());
  }
  char buffer[64];
  ASSERT_TRUE(*poll_fd(strangers[0]->fd(), PollFor::kReading, in(milliseconds(5000))));
  EXPECT_FALSE(strangers[0]->read(buffer, sizeof(buffer)).ok());
  for (int i = 1; i < 3; ++i) EXPECT_EQ(*strangers[static_cast<std::size_t>(i)]->read(buffer, sizeof(buffer)), 0u);
}

}  // namespace
}  // namespace isthmus
