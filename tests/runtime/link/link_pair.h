// Two LinkSets over a shaped loopback with a manual clock, and a hand on what arrives: a world without threads, the
// same in every run.
//
// Threads: the test's.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "runtime/link/link_set.h"
#include "runtime/transport/loopback/transport.h"
#include "runtime/transport/shaped/control.h"
#include "runtime/transport/shaped/transport.h"
#include "tests/runtime/link/recording_operation.h"
#include "tests/runtime/link/tampering_transport.h"

namespace isthmus {

inline constexpr OperationKey kKey{42, 1, 0, 0};

class LinkPair : public testing::Test {
 protected:
  struct Side {
    std::shared_ptr<ShapedControl> control;
    Tampering tampering;
    Traffic traffic;
    std::optional<LinkKeys> keys;
    std::unique_ptr<LinkSet> set;
    std::string address;
    Link* link = nullptr;
    RecordingOperation operation;
    int dial_requests = 0, lanes_requested = 0;
    bool says_silent = false;
  };

  void start(const Shape& shape, LinkSetOptions options = {}) {
    for (int i = 0; i < 2; ++i) {
      Side& side = sides_[i];
      side.control = ShapedControl::create(shape).value();
      auto inner = make_loopback_transport(fabric_).value();
      auto transport =
          make_shaped_transport(std::move(inner), side.control, clock_, seed_ + static_cast<unsigned>(i)).value();
      transport = std::make_unique<TamperingTransport>(std::move(transport), &side.tampering);
      side.set = std::make_unique<LinkSet>(options, &clock_, std::move(transport), kIds[i], &side.traffic,
                                           [&side](ProcessId, int lanes, bool is_silent) {
                                             side.lanes_requested = lanes;
                                             side.says_silent = is_silent;
                                             ++side.dial_requests;
                                           });
      side.address = side.set->listen({"127.0.0.1", "", 0, 0}).value();
    }
    for (int i = 0; i < 2; ++i)
      sides_[i].link =
          sides_[i].set->get({kIds[1 - i], fmt::format("side {}", 1 - i), addresses_of(1 - i), sides_[i].keys});
  }

  std::vector<std::string> addresses_of(int side) const {
    std::vector<std::string> all = unreachable_;
    all.push_back(sides_[side].address);
    return all;
  }

  // Moves both sides and the clock until `done` holds, for at most `limit` of manual time.
  template <typename Done>
  bool run_until(Done done, Duration limit = std::chrono::seconds(60)) {
    const TimePoint end = clock_.now() + limit;
    while (!done()) {
      bool moved = false;
      for (Side& side : sides_) moved |= side.set->progress();
      for (int i = 0; i < 2; ++i) {
        while (sides_[i].dial_requests > 0) {
          --sides_[i].dial_requests;
          sides_[1 - i].set->dial(kIds[i], sides_[i].lanes_requested, sides_[i].says_silent);
        }
      }
      if (moved) continue;
      if (clock_.now() > end) return false;
      clock_.advance(std::chrono::microseconds(500));
    }
    return true;
  }

  void exchange(const std::string& a, const std::string& b) {
    std::string got_a(b.size(), '.'), got_b(a.size(), '.');
    const std::string* sources[2] = {&a, &b};
    std::string* targets[2] = {&got_a, &got_b};
    for (int i = 0; i < 2; ++i) {
      sides_[i].link->open(kKey, "d", targets[i]->size() + 1, &sides_[i].operation);
      sides_[i].link->send(kKey, 0, as_bytes(*sources[i]), 1);
      sides_[i].link->receive(kKey, 0, std::as_writable_bytes(std::span(*targets[i])), 2);
    }
    ASSERT_TRUE(run_until([&] { return received(0) && received(1); }));
    EXPECT_TRUE(got_a == b);
    EXPECT_TRUE(got_b == a);
    ASSERT_TRUE(run_until([&] { return sides_[0].set->drained() && sides_[1].set->drained(); }));
  }
  bool received(int i) const { return sides_[i].operation.received.size() == 1; }

  static std::string random_text(std::size_t bytes, unsigned seed) {
    std::mt19937 random(seed);
    std::string text(bytes, '\0');
    for (char& c : text) c = static_cast<char>(random());
    return text;
  }

  static constexpr ProcessId kIds[2] = {5, 9};
  unsigned seed_ = 11;
  std::vector<std::string> unreachable_;  // tried before a side's own
  ManualClock clock_;
  std::shared_ptr<LoopbackFabric> fabric_ = std::make_shared<LoopbackFabric>();
  Side sides_[2];
};

inline Shape wan(double rate_bytes_per_sec, double loss) {
  Shape shape;
  shape.out.delay = std::chrono::milliseconds(30);
  shape.out.jitter = std::chrono::milliseconds(2);
  shape.out.rate_bytes_per_sec = rate_bytes_per_sec;
  shape.out.loss = loss;
  return shape;
}

}  // namespace isthmus
