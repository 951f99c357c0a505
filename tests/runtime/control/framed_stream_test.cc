#include "runtime/control/framed_stream.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "runtime/control/socket_channel.h"

namespace isthmus {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TimePoint in(Duration time) { return SteadyClock::instance().now() + time; }

// A stream on one end of a TCP connection over loopback; the test holds the raw other end.
class FramedStreamTest : public testing::Test {
 protected:
  FramedStreamTest() {
    Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const SocketAddress any = *SocketAddress::from_host("127.0.0.1", 0);
    EXPECT_EQ(::bind(listener.get(), any.native(), any.native_length()), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    const SocketAddress address = *SocketAddress::local_of(listener.get());
    raw_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(raw_.get(), address.native(), address.native_length()), 0);
    Fd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const SocketAddress remote = *SocketAddress::remote_of(accepted.get());
    stream_ = std::make_unique<FramedStream>(std::make_unique<SocketChannel>(std::move(accepted), remote, false));
  }

  void write_raw(std::string_view bytes) {
    EXPECT_EQ(::send(raw_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  Fd raw_;
  std::unique_ptr<FramedStream> stream_;
};

TEST_F(FramedStreamTest, StrayBytesAreCorruption) {
  write_raw("GET / HTTP/1.1\r\n\r\n");
  const Status status = receive_message(*stream_, in(milliseconds(5000))).status();
  EXPECT_EQ(status.code(), StatusCode::kCorruption);
  EXPECT_THAT(status.message(), HasSubstr("GET / HTTP"));
  EXPECT_THAT(status.message(), HasSubstr("127.0.0.1:"));
  EXPECT_EQ(stream_->send("x").code(), StatusCode::kCorruption) << "final";
}

TEST_F(FramedStreamTest, AResetIsUnavailable) {
  const linger abort{1, 0};
  ASSERT_EQ(::setsockopt(raw_.get(), SOL_SOCKET, SO_LINGER, &abort, sizeof(abort)), 0);
  raw_.reset();
  const Status status = receive_message(*stream_, in(milliseconds(5000))).status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("->"));
}

// The process has the default SIGPIPE here: writing to a closed connection must not end it.
TEST_F(FramedStreamTest, LC04_WritingToAClosedPeerRaisesNoSignal) {
  raw_.reset();
  Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) {
    status = stream_->send(std::string(1000, 'x'));
    (void)receive_message(*stream_, in(milliseconds(1)));
  }
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
}

TEST_F(FramedStreamTest, MessagesBeforeTheEndAreDeliveredAfterAFailedWrite) {
  StreamFraming framing;
  framing.append("last words");
  write_raw(framing.outgoing());
  raw_.reset();  // its kernel answers our next bytes with a reset
  for (int i = 0; i < 1000 && stream_->send(std::string(1000, 'x')).ok(); ++i) {
  }
  EXPECT_EQ(*receive_message(*stream_, in(milliseconds(5000))), "last words");
  EXPECT_EQ(receive_message(*stream_, in(milliseconds(5000))).status().code(), StatusCode::kUnavailable);
}

TEST_F(FramedStreamTest, APeerThatTakesNothingIsGivenUp) {
  Status status;
  std::size_t accepted_bytes = 0;
  const std::string message(1024 * 1024, 'x');
  while (status.ok() && accepted_bytes < 4 * kMaxQueuedControlBytes) {
    status = stream_->send(message);
    accepted_bytes += message.size();
  }
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("takes nothing"));
}

TEST_F(FramedStreamTest, TheSocketIsSetUpForSmallMessages) {
  int no_delay = 0;
  socklen_t length = sizeof(no_delay);
  ASSERT_EQ(::getsockopt(stream_->fd(), IPPROTO_TCP, TCP_NODELAY, &no_delay, &length), 0);
  EXPECT_NE(no_delay, 0);
  EXPECT_NE(::fcntl(stream_->fd(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(::fcntl(stream_->fd(), F_GETFL) & O_NONBLOCK, 0);
}

}  // namespace
}  // namespace isthmus
