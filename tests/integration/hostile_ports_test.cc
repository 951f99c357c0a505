// SE, EL-08: strangers at every port that a job listens on, while it forms and works: bursts of connections, half
// closed at once, random bytes, and the beginnings of our own protocols.
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "collectives/communicator.h"
#include "runtime/base/socket_address.h"
#include "runtime/bootstrap/rendezvous_server.h"
#include "runtime/bootstrap/tcp_store.h"
#include "runtime/control/control_networks.h"

namespace isthmus {
namespace {

constexpr int kRanks = 3, kJobs = 3, kRounds = 150;
constexpr std::chrono::milliseconds kPause{5};  // between rounds: the strangers need their time
constexpr std::size_t kCount = 20'000;

// What the descriptors of this process are: "socket:[123]", "anon_inode:[eventpoll]".
std::multiset<std::string> open_descriptors() {
  std::multiset<std::string> targets;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    targets.insert(std::filesystem::read_symlink(entry.path(), ignored).string());
  return targets;
}

// The ports of loopback on which this process listens.
std::set<std::uint16_t> listening_ports() {
  std::set<std::string> inodes;
  for (const std::string& target : open_descriptors())
    if (target.starts_with("socket:[")) inodes.insert(target.substr(8, target.size() - 9));
  std::set<std::uint16_t> ports;
  std::ifstream table("/proc/self/net/tcp");
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string slot, local, remote, state, queues, timer, retransmits, user, timeout, inode;
    fields >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> user >> timeout >> inode;
    if (state == "0A" && inodes.contains(inode))
      ports.insert(static_cast<std::uint16_t>(std::stoi(local.substr(local.find(':') + 1), nullptr, 16)));
  }
  return ports;
}

// 200 connections a second, spread over all ports, until told to stop.
class Strangers {
 public:
  Strangers() : thread_([this] { run(); }) {}
  ~Strangers() {
    stop_ = true;
    thread_.join();
  }
  std::size_t connection_count() const { return count_; }
  std::size_t port_count() const { return port_count_; }

 private:
  void run() {
    std::vector<Fd> held;
    while (!stop_) {
      const std::set<std::uint16_t> ports = listening_ports();
      port_count_ = std::max(port_count_.load(), ports.size());
      for (const std::uint16_t port : ports) {
        Fd socket = connect(port);
        ++count_;
        if (count_ % 2 == 0) continue;  // closed at once
        send_garbage(socket.get());
        held.push_back(std::move(socket));
        if (held.size() > 100) held.erase(held.begin(), held.begin() + 50);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      if (ports.empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  static Fd connect(std::uint16_t port) {
    const SocketAddress address = *SocketAddress::from_host("127.0.0.1", port);
    Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    (void)::connect(socket.get(), address.native(), address.native_length());
    return socket;
  }

  void send_garbage(int socket) {
    constexpr std::string_view kBeginnings[] = {"",
                                                "GET / HTTP/1.1\r\n\r\n",
                                                {"ISTHMUS\x01\xff\xff\xff", 11},
                                                {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11}};
    std::string bytes(kBeginnings[random_() % 4]);
    for (std::size_t i = random_() % 3000; i > 0; --i) bytes += static_cast<char>(random_());
    (void)::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  std::atomic<bool> stop_{false};
  std::atomic<std::size_t> count_{0}, port_count_{0};
  std::mt19937 random_{7};
  std::thread thread_;
};

Status work(Communicator& world, int rank, int rounds) {
  std::vector<float> values(kCount);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < kCount; ++i) values[i] = static_cast<float>(i % 100) + static_cast<float>(rank + round);
    ISTHMUS_ASSIGN_OR_RETURN(const auto work, world.allreduce(values.data(), values.data(), kCount, DataType::kFloat32,
                                                              ReduceOp::kSum, CallOptions()));
    ISTHMUS_RETURN_IF_ERROR(work->wait(std::chrono::seconds(60)));
    std::this_thread::sleep_for(kPause);
    for (std::size_t i = 0; i < kCount; ++i) {
      const float expected = kRanks * static_cast<float>(i % 100) + static_cast<float>(3 + kRanks * round);
      if (values[i] != expected) return corruption("round {}: element {} is {}, not {}", round, i, values[i], expected);
    }
  }
  return Status();
}

Status run_rank(const Options& job, ControlNetwork* network, const std::string& server, int rank, int rounds) {
  Options options = job;
  options.site = fmt::format("site{}", rank);
  const TimePoint deadline = SteadyClock::instance().now() + std::chrono::seconds(30);
  ISTHMUS_ASSIGN_OR_RETURN(const auto runtime, Runtime::create(options));
  ISTHMUS_ASSIGN_OR_RETURN(const auto store, TcpStore::connect(network, server, deadline));
  ISTHMUS_ASSIGN_OR_RETURN(const auto world, Communicator::create(runtime.get(), *store, rank, kRanks, {}));
  return work(*world, rank, rounds);
}

void run_job(const Options& options, int rounds) {
  const auto network = make_control_network(*load_security(options)).value();
  RendezvousOptions where;
  where.host = "127.0.0.1";
  const auto server = RendezvousServer::start(network.get(), where).value();
  std::vector<Status> results(kRanks);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < kRanks; ++rank)
    ranks.emplace_back([&, rank] {
      results[static_cast<std::size_t>(rank)] = run_rank(options, network.get(), server->address(), rank, rounds);
    });
  for (std::thread& rank : ranks) rank.join();
  for (const Status& result : results) EXPECT_TRUE(result.ok()) << result.to_string();
}

class HostilePortsTest : public ::testing::TestWithParam<bool> {};

TEST_P(HostilePortsTest, EL08_TheGroupFormsAndWorksAndNothingIsLeft) {
  Options options;
  if (GetParam()) {
    options.secret = JobSecret::generate()->text();
  } else {
    options.security = "off";
  }
  run_job(options, 1);  // what is made once for the process is made now
  const std::size_t before = open_descriptors().size();
  {
    const Strangers strangers;
    for (int job = 0; job < kJobs; ++job) run_job(options, kRounds);
    EXPECT_GE(strangers.connection_count(), 200u);
    EXPECT_GE(strangers.port_count(), 1u + 2u * kRanks) << "the rendezvous server's, and two of each rank";
  }
  // libfabric 1.17 forgets a connection that has not said what it wants when its listener is closed: one per
  // listener was seen, and what is ours leaves nothing (strangers at the control ports alone: nothing is left).
  const std::size_t allowed = before + kJobs * kRanks;
  const TimePoint deadline = SteadyClock::instance().now() + std::chrono::seconds(10);
  while (open_descriptors().size() > allowed && SteadyClock::instance().now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const auto left = open_descriptors();
  EXPECT_LE(left.size(), allowed) << fmt::format("{}", fmt::join(left, ", "));
}

INSTANTIATE_TEST_SUITE_P(Security, HostilePortsTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Secured" : "Plain"; });

}  // namespace
}  // namespace isthmus
