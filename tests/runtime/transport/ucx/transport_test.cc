// What only real sockets and processes can show; the rest is in tests/conformance/transport.
#include "runtime/transport/ucx/transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <thread>
#include <vector>

#include "runtime/base/fd.h"
#include "runtime/base/socket_address.h"

namespace isthmus {
namespace {

using ::testing::HasSubstr;

const ListenOptions kLocal{"127.0.0.1", "", 0, 0};

// The part of an address that messages show.
std::string place_of(const std::string& address) { return address.substr(0, address.find('/')); }

// Collects events until `done`, for at most ten seconds.
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

// A peer in a process of its own: accepts lanes, receives what comes, and never answers.
class Child {
 public:
  Child() {
    int ends[2];
    if (::pipe(ends) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      serve(ends[1]);
      ::_exit(1);
    }
    ::close(ends[1]);
    char text[256] = {};
    const ssize_t length = ::read(ends[0], text, sizeof(text));
    ::close(ends[0]);
    if (length > 0) address_.assign(text, static_cast<std::size_t>(length));
  }
  ~Child() { kill(); }

  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  const std::string& address() const { return address_; }

 private:
  static void serve(int to) {
    auto transport = make_ucx_transport();
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

  pid_t pid_ = -1;
  std::string address_;
};

TEST(UcxTransport, AKilledProcessIsReportedOnIdleAndBusyLanes) {
  Child child;
  ASSERT_FALSE(child.address().empty());
  auto transport = make_ucx_transport().value();
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

TEST(UcxTransport, StrangersAtThePortDoNoHarm) {
  auto server = make_ucx_transport().value(), client = make_ucx_transport().value();
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

// Reno is in every kernel and allowed to everyone; nothing else in this process asks for it.
TEST(UcxTransport, TunesTheLanesOfBothEnds) {
  TransportOptions options;
  options.congestion = "reno";
  options.user_timeout = std::chrono::seconds(30);
  auto a = make_ucx_transport(options).value(), b = make_ucx_transport(options).value();
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

TEST(UcxTransport, NamesTheLibrary) {
  auto transport = make_ucx_transport().value();
  EXPECT_EQ(transport->capabilities().name, "ucx");
  EXPECT_THAT(transport->capabilities().library_version, HasSubstr("."));
}

// UCX's constructor would take over SIGSEGV and others: a debugger's or an interpreter's handlers would be lost.
TEST(UcxTransport, LeavesSignalsAlone) {
  ASSERT_TRUE(make_ucx_transport().ok());
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGIO}) {
    struct sigaction action{};
    ASSERT_EQ(::sigaction(number, nullptr, &action), 0);
    EXPECT_EQ(action.sa_handler, SIG_DFL) << "signal " << number;
  }
}

// Dialling must not stop the thread: 192.0.2.0/24 answers nobody.
TEST(UcxTransport, DialsWithoutWaiting) {
  auto transport = make_ucx_transport().value(), other = make_ucx_transport().value();
  std::string address = *other->listen(kLocal);
  address.replace(0, address.find('/'), "192.0.2.1:4001");
  const TimePoint start = SteadyClock::instance().now();
  const auto lane = transport->connect(address, "anybody?");
  ASSERT_TRUE(lane.ok()) << lane.status().to_string();
  transport->close(*lane);
  std::vector<TransportEvent> events;
  EXPECT_TRUE(collect(*transport, events, [&] { return !events.empty(); }));
  EXPECT_EQ(events[0].kind, TransportEventKind::kLaneDown);
  EXPECT_LT(to_ms(SteadyClock::instance().now() - start), 2000);
}

}  // namespace
}  // namespace isthmus
