// CallLog: the collectives that this rank has called in a communicator, against what it hears that the others call. So
// ranks that call different things find out whether or not their calls exchange data, and when one has ended already.
//
// Threads: the progress thread. Memory: the last kKept calls, and at most kMaxHeard that this rank has yet to make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/link/call_listener.h"

namespace isthmus {

class CallLog final : public CallListener {
 public:
  static constexpr std::uint64_t kKept = 128;
  static constexpr std::size_t kMaxHeard = 4096;

  // `name_of` gives a rank's name; `on_mismatch` is told once per difference found.
  CallLog(std::function<std::string(std::uint32_t)> name_of, std::function<void(const Status&)> on_mismatch)
      : name_of_(std::move(name_of)), on_mismatch_(std::move(on_mismatch)) {}

  // This rank calls `what`; `describe` puts another rank's descriptor and the own into words.
  void called(std::uint64_t sequence, std::string descriptor, std::string what,
              std::function<std::string(std::string_view theirs)> describe);

  void on_call(std::uint32_t rank, std::uint64_t sequence, std::string_view descriptor) override;

 private:
  struct Call {
    std::uint64_t sequence = 0;
    std::string descriptor, what;
    std::function<std::string(std::string_view)> describe;
  };
  struct Heard {
    std::uint32_t rank = 0;
    std::string descriptor;
  };
  void compare(const Call& mine, std::uint32_t rank, std::string_view theirs);

  const std::function<std::string(std::uint32_t)> name_of_;
  const std::function<void(const Status&)> on_mismatch_;
  std::vector<Call> calls_;  // by sequence modulo kKept
  std::uint64_t last_called_ = 0;
  std::unordered_map<std::uint64_t, std::vector<Heard>> heard_;  // by sequence
  std::size_t heard_count_ = 0;
};

}  // namespace isthmus
