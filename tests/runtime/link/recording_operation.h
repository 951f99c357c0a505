// A ChannelOperation that remembers what it was told. Test thread only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "runtime/link/channel.h"

namespace isthmus {

struct RecordingOperation final : ChannelOperation {
  std::vector<std::uint32_t> sent, received;
  std::vector<std::string> mismatches;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> wrong_sizes;
  int advances = 0;

  void on_sent(std::uint32_t step) override { sent.push_back(step); }
  void on_received(std::uint32_t step) override { received.push_back(step); }
  void on_advance() override { ++advances; }
  void on_mismatch(std::string_view theirs) override { mismatches.emplace_back(theirs); }
  void on_wrong_size(std::uint32_t step, std::uint64_t bytes) override { wrong_sizes.emplace_back(step, bytes); }
};

}  // namespace isthmus
