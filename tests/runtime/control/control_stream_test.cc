// The contract of control streams, on every make.
#include "runtime/control/control_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "runtime/control/memory_control.h"
#include "runtime/control/tcp_control.h"
#include "runtime/control/tls_control.h"
#include "tests/runtime/control/stream_pair.h"

namespace isthmus {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

TimePoint in(Duration time) { return SteadyClock::instance().now() + time; }

enum class Make { kTcp4, kTcp6, kMemory, kTls, kTlsChaCha, kMemorySecured };

bool is_secured(Make make) { return make >= Make::kTls; }

class ControlStreamTest : public ::testing::TestWithParam<Make> {
 protected:
  ControlStreamTest() {
    const JobSecret secret = *JobSecret::generate();
    switch (GetParam()) {
      case Make::kTcp4:
      case Make::kTcp6: network_ = std::make_unique<TcpControlNetwork>(); break;
      case Make::kMemory: network_ = std::make_unique<MemoryControlNetwork>(); break;
      case Make::kMemorySecured: network_ = std::make_unique<MemoryControlNetwork>(secret); break;
      case Make::kTls: network_ = TlsControlNetwork::create(secret, CipherKind::kAes256Gcm).value(); break;
      case Make::kTlsChaCha: network_ = TlsControlNetwork::create(secret, CipherKind::kChaCha20Poly1305).value(); break;
    }
    host_ = GetParam() == Make::kTcp6 ? "::1" : "127.0.0.1";
    auto listener = network_->listen(host_, "", 0, 0);
    EXPECT_TRUE(listener.ok()) << listener.status().to_string();
    listener_ = std::move(listener).value();
  }

  std::unique_ptr<ControlStream> dial() {
    testing::StreamPair pair = testing::connect_pair(*network_, *listener_);
    EXPECT_TRUE(pair.client_status.ok()) << pair.client_status.to_string();
    accepted_ = std::move(pair.server);
    return std::move(pair.client);
  }
  std::unique_ptr<ControlStream> accept() { return std::move(accepted_); }

  std::string host_;
  std::unique_ptr<ControlNetwork> network_;
  std::unique_ptr<ControlListener> listener_;
  std::unique_ptr<ControlStream> accepted_;
};

TEST_P(ControlStreamTest, NothingToAcceptIsNoError) {
  const auto stream = listener_->accept();
  ASSERT_TRUE(stream.ok());
  EXPECT_EQ(*stream, nullptr);
}

TEST_P(ControlStreamTest, MessagesKeepTheirBoundsAndOrderBothWays) {
  const auto client = dial();
  const auto server = accept();
  const std::string sent[] = {"a", "", std::string("\0\xff two", 6), std::string(100'000, 'x')};
  for (const auto& message : sent) {
    ASSERT_TRUE(send_message(*client, message, in(milliseconds(5000))).ok());
    ASSERT_TRUE(send_message(*server, message, in(milliseconds(5000))).ok());
  }
  for (const auto& message : sent) {
    EXPECT_EQ(*receive_message(*client, in(milliseconds(5000))), message);
    EXPECT_EQ(*receive_message(*server, in(milliseconds(5000))), message);
  }
}

TEST_P(ControlStreamTest, TheLongestMessagePassesAndALongerOneIsRefused) {
  const auto client = dial();
  const auto server = accept();
  std::thread sender([&] {
    EXPECT_TRUE(send_message(*client, std::string(kMaxControlMessageBytes, 'y'), in(milliseconds(20000))).ok());
    EXPECT_EQ(client->send(std::string(kMaxControlMessageBytes + 1, 'y')).code(), StatusCode::kInvalidArgument);
    EXPECT_TRUE(send_message(*client, "after", in(milliseconds(20000))).ok());
  });
  EXPECT_EQ(receive_message(*server, in(milliseconds(20000)))->size(), kMaxControlMessageBytes);
  EXPECT_EQ(*receive_message(*server, in(milliseconds(20000))), "after");
  sender.join();
}

TEST_P(ControlStreamTest, ReceiveDoesNotWait) {
  const auto client = dial();
  const auto server = accept();
  std::string message;
  const auto received = server->receive(&message);
  ASSERT_TRUE(received.ok());
  EXPECT_FALSE(*received);
}

TEST_P(ControlStreamTest, WholeMessagesOutliveTheSender) {
  auto client = dial();
  const auto server = accept();
  ASSERT_TRUE(send_message(*server, "nothing more from here", in(milliseconds(5000))).ok());
  ASSERT_TRUE(receive_message(*client, in(milliseconds(5000))).ok());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(client->send(fmt::format("message {}", i)).ok());
  client.reset();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(*receive_message(*server, in(milliseconds(5000))), fmt::format("message {}", i));
  }
  EXPECT_EQ(receive_message(*server, in(milliseconds(5000))).status().code(), StatusCode::kUnavailable);
}

TEST_P(ControlStreamTest, TheEndWakesTheReader) {
  const auto client = dial();
  auto server = accept();
  std::thread closer([&] {
    std::this_thread::sleep_for(milliseconds(20));
    server.reset();
  });
  EXPECT_EQ(receive_message(*client, in(milliseconds(5000))).status().code(), StatusCode::kUnavailable);
  closer.join();
}

TEST_P(ControlStreamTest, DeadlinesEndWaits) {
  const auto client = dial();
  const auto server = accept();
  const TimePoint start = SteadyClock::instance().now();
  const Status status = receive_message(*client, in(milliseconds(50))).status();
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr(" -> "));
  EXPECT_GE(SteadyClock::instance().now() - start, milliseconds(50));
}

TEST_P(ControlStreamTest, AClosedListenerRefusesByName) {
  const std::string address = listener_->address();
  listener_.reset();
  const Status status = network_->connect(address, in(milliseconds(5000))).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr(address));
}

TEST_P(ControlStreamTest, AnAddressOfAnotherKindIsInvalid) {
  for (const char* address : {"", "nowhere", "host.example:80", "::1:80", "127.0.0.1:0", "127.0.0.1:99999"}) {
    EXPECT_EQ(network_->dial(address).status().code(), StatusCode::kInvalidArgument) << address;
  }
}

TEST_P(ControlStreamTest, ASecuredConnectionHasASecretForEachLabelAndContext) {
  const auto client = dial();
  const auto server = accept();
  const Result<Key> secret = client->export_secret("label", "context");
  if (!is_secured(GetParam())) {
    EXPECT_EQ(secret.status().code(), StatusCode::kUnsupported);
    return;
  }
  ASSERT_TRUE(secret.ok()) << secret.status().to_string();
  EXPECT_EQ(*server->export_secret("label", "context"), *secret);
  EXPECT_NE(*client->export_secret("label", "other"), *secret);
  EXPECT_NE(*client->export_secret("other", "context"), *secret);
  const auto second = dial();
  EXPECT_NE(*second->export_secret("label", "context"), *secret) << "another connection";
}

std::string make_name(const ::testing::TestParamInfo<Make>& info) {
  constexpr const char* kNames[] = {"Tcp4", "Tcp6", "Memory", "Tls", "TlsChaCha", "MemorySecured"};
  return kNames[static_cast<int>(info.param)];
}

INSTANTIATE_TEST_SUITE_P(EveryMake, ControlStreamTest,
                         ::testing::Values(Make::kTcp4, Make::kTcp6, Make::kMemory, Make::kTls, Make::kTlsChaCha,
                                           Make::kMemorySecured),
                         make_name);

}  // namespace
}  // namespace isthmus
