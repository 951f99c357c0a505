#include "benchmarks/lab/supervisor.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>

#include "benchmarks/lab/control_command.h"

namespace isthmus::lab {
namespace {

TimePoint now() { return SteadyClock::instance().now(); }

TimePoint run_deadline(const LabOptions& options, TimePoint start) {
  return options.timeout == Duration::zero() ? kNever : deadline_after(start, options.timeout);
}

void print(std::FILE* to, std::string_view text) {
  if (text.empty()) return;
  std::fwrite(text.data(), 1, text.size(), to);
  std::fflush(to);
}

}  // namespace

Supervisor::Supervisor(const LabOptions& options, Forwarder& forwarder, Guardian guardian, ControlServer control,
                       SignalFd signals, std::vector<RankOutput> outputs, TimePoint start)
    : options_(options),
      forwarder_(forwarder),
      guardian_(std::move(guardian)),
      control_(std::move(control)),
      signals_(std::move(signals)),
      outputs_(std::move(outputs)),
      start_(start),
      policy_(options.topology.world_size(), options.grace, run_deadline(options, start)) {}

Supervisor::~Supervisor() {
  if (!finished_) guardian_.finish();
}

Result<int> Supervisor::run() {
  while (!policy_.all_ended()) {
    polled_ = {{guardian_.channel(), POLLIN, 0}, {signals_.get(), POLLIN, 0}, {control_.get(), POLLIN, 0}};
    for (const RankOutput& output : outputs_) polled_.push_back({output.pipe.get(), POLLIN, 0});
    if (::poll(polled_.data(), polled_.size(), poll_timeout_ms(policy_.next_deadline())) < 0 && errno != EINTR) {
      return internal_error("poll failed: {}", errno_message(errno));
    }
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (polled_[i + 3].revents != 0) copy(outputs_[i]);
    }
    if (polled_[1].revents != 0) handle_signals();
    if (polled_[2].revents != 0) handle_control();
    if (polled_[0].revents != 0) ISTHMUS_RETURN_IF_ERROR(handle_ends());
    handle_deadline();
  }
  guardian_.finish();
  finished_ = true;
  constexpr Duration kDrainTime = std::chrono::seconds(2);
  copy_until(now() + kDrainTime);
  for (RankOutput& output : outputs_) print(output.to, output.prefixer.flush());
  if (policy_.timed_out())
    fmt::print(stderr, "isthmus-lab: ended after --timeout {}\n", format_duration(options_.timeout));
  return policy_.exit_status();
}

Status Supervisor::handle_ends() {
  while (!policy_.all_ended()) {
    ISTHMUS_ASSIGN_OR_RETURN(const std::optional<RankEnd> end, guardian_.next_end());
    if (!end) return Status();
    if (policy_.rank_ended(end->rank, end->wait_status, now())) announce_failure(end->rank, end->wait_status);
  }
  return Status();
}

void Supervisor::announce_failure(int rank, int wait_status) const {
  int site = options_.topology.site_count() - 1;
  while (options_.topology.first_rank(site) > rank) --site;
  const std::string how = WIFSIGNALED(wait_status) ? fmt::format("was killed by signal {}", WTERMSIG(wait_status))
                                                   : fmt::format("failed with status {}", WEXITSTATUS(wait_status));
  fmt::print(stderr, "isthmus-lab: rank {} (site {}) {}; the others have {} to end\n", rank,
             options_.topology.sites[static_cast<std::size_t>(site)].name, how, format_duration(options_.grace));
}

void Supervisor::handle_signals() {
  while (const std::optional<int> signal = signals_.next()) {
    guardian_.signal_ranks(policy_.signal_received(*signal, now()));
  }
}

void Supervisor::handle_deadline() {
  if (const std::optional<int> signal = policy_.due(now())) guardian_.signal_ranks(*signal);
}

void Supervisor::handle_control() {
  control_.serve([this](const std::vector<std::string>& words) {
    Result<std::string> answer = std::string();
    forwarder_.with_wan([&](Wan& wan, const ForwarderCounters& counters) {
      answer = run_control_command(words, wan, counters, now() - start_);
    });
    return answer;
  });
}

// Closes the pipe at its end: poll() passes over a descriptor of -1.
void Supervisor::copy(RankOutput& output) {
  std::array<char, 65536> buffer;
  const ssize_t size = ::read(output.pipe.get(), buffer.data(), buffer.size());
  if (size > 0) return print(output.to, output.prefixer.feed({buffer.data(), static_cast<std::size_t>(size)}));
  if (size < 0 && errno == EINTR) return;
  print(output.to, output.prefixer.flush());
  output.pipe.reset();
}

void Supervisor::copy_until(TimePoint deadline) {
  const auto open = [](const RankOutput& output) { return output.pipe.valid(); };
  while (std::any_of(outputs_.begin(), outputs_.end(), open) && now() < deadline) {
    polled_.clear();
    for (const RankOutput& output : outputs_) polled_.push_back({output.pipe.get(), POLLIN, 0});
    ::poll(polled_.data(), polled_.size(), poll_timeout_ms(deadline));
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      if (polled_[i].revents != 0) copy(outputs_[i]);
    }
  }
}

int Supervisor::poll_timeout_ms(TimePoint deadline) const {
  if (deadline == kNever) return -1;
  return static_cast<int>(std::clamp<std::int64_t>(to_ms(deadline - now()) + 1, 0, INT_MAX));
}

}  // namespace isthmus::lab
