#include "tests/runtime/transport/socket_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "runtime/base/fd.h"
#include "runtime/base/socket_address.h"

namespace isthmus {
namespace {

using ::testing::HasSubstr;

void serve(MakeTransport make, int to) {
  auto transport = make({});
  if (!transport.ok()) return;
  const auto address = (*transport)->listen(kLocal);
  if (!address.ok() || ::write(to, address->data(), address->size()) < 0) return;
  std::vector<std::byte> buffer(1 << 20);
  for (;;) {
    TransportEvent event;
    if ((*transport)->progress({&event, 1}) == 0) {
      ::usleep(100);
      continue;
    }
    if (event.kind == TransportEventKind::kLaneAccepted || event.kind == TransportEventKind::kReceived) {
      (*transport)->receive(event.lane, buffer, 0);
    }
  }
}

}  // namespace

bool collect(Transport& transport, std::vector<TransportEvent>& events, const std::function<bool()>& done) {
  const TimePoint deadline = SteadyClock::instance().now() + std::chrono::seconds(10);
  while (!done() && SteadyClock::instance().now() < deadline) {
    TransportEvent event;
    if (transport.progress({&event, 1}) == 1) {
      events.push_back(std::move(event));
    } else {
      std::this_thread::yield();
    }
  }
  return done();
}

PeerProcess::PeerProcess(MakeTransport make) {
  int ends[2];
  if (::pipe(ends) != 0) return;
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    serve(make, ends[1]);
    ::_exit(1);
  }
  ::close(ends[1]);
  char text[256] = {};
  const ssize_t length = ::read(ends[0], text, sizeof(text));
  ::close(ends[0]);
  if (length > 0) address_.assign(text, static_cast<std::size_t>(length));
}

void PeerProcess::kill() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void check_a_killed_process_is_reported_on_idle_and_busy_lanes(MakeTransport make) {
  PeerProcess child(make);
  ASSERT_FALSE(child.address().empty());
  auto transport = make({}).value();
  const LaneId idle = *transport->connect(child.address(), "idle"), busy = *transport->connect(child.address(), "busy");
  std::vector<TransportEvent> events;
  const auto count = [&events](TransportEventKind kind) {
    return std::count_if(events.begin(), events.end(), [kind](const auto& event) { return event.kind == kind; });
  };
  ASSERT_TRUE(collect(*transport, events, [&] { return count(TransportEventKind::kLaneUp) == 2; }));
  std::vector<std::byte> buffer(100), message(1 << 20);
  ASSERT_EQ(transport->receive(idle, buffer, 1), PostResult::kAccepted);
  ASSERT_EQ(transport->receive(busy, buffer, 2), PostResult::kAccepted);
  std::uint64_t sends = 0;
  while (transport->send(busy, message, 100 + sends) == PostResult::kAccepted) ++sends;
  const TimePoint killed = SteadyClock::instance().now();
  child.kill();
  ASSERT_TRUE(collect(*transport, events, [&] { return count(TransportEventKind::kLaneDown) == 2; }));
  EXPECT_LT(to_ms(SteadyClock::instance().now() - killed), 5000);
  EXPECT_EQ(count(TransportEventKind::kReceived), 2);
  EXPECT_EQ(count(TransportEventKind::kSent), static_cast<std::ptrdiff_t>(sends));
  for (const TransportEvent& event : events) {
    if (event.kind != TransportEventKind::kLaneDown) continue;
    EXPECT_EQ(event.status.code(), StatusCode::kUnavailable);
    EXPECT_THAT(event.status.message(), HasSubstr(place_of(child.address())));
  }
  EXPECT_EQ(transport->send(busy, message, 1), PostResult::kDown);
}

void check_strangers_at_the_port_do_no_harm(MakeTransport make) {
  auto server = make({}).value(), client = make({}).value();
  const std::string address = *server->listen(kLocal);
  const SocketAddress target = *SocketAddress::parse(place_of(address));
  std::vector<Fd> strangers;
  const std::string silent, noise(1000, 'x'), request = "GET / HTTP/1.0\r\n\r\n";
  for (const std::string& words : {silent, noise, request}) {
    strangers.emplace_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(strangers.back().get(), target.native(), target.native_length()), 0);
    ASSERT_EQ(::send(strangers.back().get(), words.data(), words.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(words.size()));
  }
  std::vector<TransportEvent> at_server, at_client;
  collect(*server, at_server, [end = SteadyClock::instance().now() + std::chrono::milliseconds(50)] {
    return SteadyClock::instance().now() > end;
  });
  EXPECT_TRUE(at_server.empty()) << "a stranger became a lane";
  ASSERT_TRUE(client->connect(address, "friend").ok());
  ASSERT_TRUE(collect(*client, at_client, [&] {
    TransportEvent event;
    if (server->progress({&event, 1}) == 1) at_server.push_back(event);
    return !at_client.empty() && !at_server.empty();
  }));
  EXPECT_EQ(at_server[0].kind, TransportEventKind::kLaneAccepted);
  EXPECT_EQ(at_server[0].greeting, "friend");
}

void check_the_lanes_of_both_ends_are_tuned(MakeTransport make) {
  TransportOptions options;
  options.congestion = "reno";
  options.user_timeout = std::chrono::seconds(30);
  auto a = make(options).value(), b = make(options).value();
  const LaneId dialled = *a->connect(*b->listen(kLocal), "tuned");
  std::vector<TransportEvent> at_a, at_b;
  ASSERT_TRUE(collect(*a, at_a, [&] {
    TransportEvent event;
    if (b->progress({&event, 1}) == 1) at_b.push_back(event);
    return !at_a.empty() && !at_b.empty();
  }));
  ASSERT_EQ(at_a[0].kind, TransportEventKind::kLaneUp);
  ASSERT_EQ(at_b[0].kind, TransportEventKind::kLaneAccepted);
  EXPECT_EQ(a->lane_info(dialled).congestion, "reno");
  EXPECT_EQ(b->lane_info(at_b[0].lane).congestion, "reno");
}

}  // namespace isthmus
