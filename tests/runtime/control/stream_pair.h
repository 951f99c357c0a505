// Both ends of a control connection, made in one thread.
//
// Threads: one thread at a time.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "runtime/control/control_stream.h"
#include "runtime/control/poll_fd.h"

namespace isthmus::testing {

struct StreamPair {
  std::unique_ptr<ControlStream> client, server;
  Status client_status;  // why it does not stand
};

// Until both ends stand, or the client has failed.
inline StreamPair connect_pair(ControlNetwork& network, ControlListener& listener) {
  StreamPair pair;
  auto dialled = network.dial(listener.address());
  EXPECT_TRUE(dialled.ok()) << dialled.status().to_string();
  pair.client = std::move(dialled).value();
  const TimePoint deadline = SteadyClock::instance().now() + std::chrono::seconds(10);
  bool stands = false;
  while ((!stands || pair.server == nullptr) && SteadyClock::instance().now() < deadline) {
    const Result<bool> flushed = pair.client->flush();
    if (!flushed.ok()) {
      pair.client_status = flushed.status();
      return pair;
    }
    stands = *flushed;
    if (pair.server == nullptr) {
      auto accepted = listener.accept();
      EXPECT_TRUE(accepted.ok()) << accepted.status().to_string();
      pair.server = std::move(accepted).value();
    }
    (void)poll_fd(listener.fd(), PollFor::kReading, SteadyClock::instance().now() + std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(stands && pair.server != nullptr) << "no connection in time";
  return pair;
}

}  // namespace isthmus::testing
