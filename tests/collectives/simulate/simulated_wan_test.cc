#include "collectives/simulate/simulated_wan.h"

#include <gtest/gtest.h>

#include <map>

namespace isthmus {
namespace {

constexpr double kHostSeconds = 150e-6;

// Sends messages at time 0 and says when each was there, in seconds.
struct Message {
  int from = 0, to = 0;
  std::uint32_t bytes = 0;
};
std::map<std::uint32_t, double> arrivals(const Network& network, const std::vector<Message>& messages) {
  EventQueue queue;
  SimulatedWan wan(&network, &queue);
  for (std::uint32_t i = 0; i < messages.size(); ++i) {
    const std::uint32_t link = wan.add_link(messages[i].from, messages[i].to);
    wan.send(link, i, messages[i].bytes, 0);
  }
  std::map<std::uint32_t, double> at;
  std::size_t left = 0;
  while (!queue.empty()) {
    const Event event = queue.take();
    wan.handle(
        event, [&](std::uint32_t) { ++left; },
        [&](std::uint32_t message) { at[message] = static_cast<double>(event.at) * 1e-9; });
  }
  EXPECT_EQ(left, messages.size());
  return at;
}

TEST(SimulatedWan, OneMessageTakesItsTimeOnTheLineAndTheDelay) {
  const Network network = uniform_network(2, 1, {"", 1, 1'000'000, 1'000'000}, {30'000});
  const auto at = arrivals(network, {{0, 1, 500'000}});
  EXPECT_NEAR(at.at(0), 0.5 + 0.03 + kHostSeconds, 1e-3);
}

TEST(SimulatedWan, ASlowLineDownHoldsItUp) {
  Network network = uniform_network(2, 1, {"", 1, 1'000'000, 1'000'000}, {30'000});
  network.sites[1].down_bytes_per_sec = 250'000;
  EXPECT_NEAR(arrivals(network, {{0, 1, 500'000}}).at(0), 2 + 0.03 + kHostSeconds, 2e-3);
}

TEST(SimulatedWan, ANarrowPathHoldsItUp) {
  Network network = uniform_network(3, 1, {"", 1, 1'000'000, 1'000'000}, {30'000});
  network.path(0, 1).bytes_per_sec = 100'000;
  const auto at = arrivals(network, {{0, 1, 500'000}, {0, 2, 500'000}});
  EXPECT_NEAR(at.at(0), 5 + 0.03 + kHostSeconds, 0.1);
  EXPECT_LT(at.at(1), 1.1);
}

TEST(SimulatedWan, LinksShareALineFairly) {
  const Network network = uniform_network(3, 1, {"", 1, 1'000'000, 1'000'000}, {30'000});
  const auto at = arrivals(network, {{0, 1, 500'000}, {0, 2, 500'000}});
  EXPECT_NEAR(at.at(0), at.at(1), 0.07);
  EXPECT_NEAR(std::max(at.at(0), at.at(1)), 1 + 0.03 + kHostSeconds, 2e-3);
}

TEST(SimulatedWan, TwoSendersShareTheLineDown) {
  const Network network = uniform_network(3, 1, {"", 1, 1'000'000, 1'000'000}, {30'000});
  const auto at = arrivals(network, {{0, 2, 500'000}, {1, 2, 500'000}});
  EXPECT_NEAR(std::max(at.at(0), at.at(1)), 1 + 0.03 + kHostSeconds, 2e-3);
}

// A slow receiver does not take the line from a fast one.
TEST(SimulatedWan, AWindowKeepsTheLineForOthers) {
  Network network = uniform_network(3, 1, {"", 1, 10'000'000, 10'000'000}, {5'000});
  network.sites[1].down_bytes_per_sec = 1'000'000;
  const auto at = arrivals(network, {{0, 1, 5'000'000}, {0, 2, 5'000'000}});
  EXPECT_NEAR(at.at(0), 5, 0.1);
  EXPECT_LT(at.at(1), 0.65);
}

TEST(SimulatedWan, LossTakesItsPartOfTheRate) {
  const Network network = uniform_network(2, 1, {"", 1, 1'000'000, 1'000'000}, {30'000, 100'000});
  EXPECT_NEAR(arrivals(network, {{0, 1, 900'000}}).at(0), 1 + 0.03 + kHostSeconds, 2e-3);
}

}  // namespace
}  // namespace isthmus
