#include "benchmarks/bench/job.h"

#include <algorithm>
#include <cstdio>
#include <thread>

#include "runtime/base/log.h"
#include "runtime/base/socket_address.h"
#include "runtime/bootstrap/tcp_store.h"
#include "runtime/config/environment.h"
#include "runtime/config/option_access.h"
#include "runtime/control/control_networks.h"

namespace isthmus::bench {
namespace {

constexpr Duration kUntilItEnds{-1};

LogLevel level_of(const Options& options) {
  for (LogLevel level : {LogLevel::kError, LogLevel::kWarning, LogLevel::kInfo, LogLevel::kDebug})
    if (log_level_name(level) == options.log_level) return level;
  return LogLevel::kOff;
}

void log_to_stderr(const Options& options) {
  set_log_sink(level_of(options), [](LogLevel level, std::string_view line) {
    fmt::print(stderr, "isthmus {}: {}\n", log_level_name(level), line);
  });
}

Result<std::unique_ptr<RendezvousServer>> serve(ControlNetwork* network, const Launch& launch) {
  ISTHMUS_ASSIGN_OR_RETURN(const auto hosts, resolve_host(launch.master_host));
  RendezvousOptions options;
  options.host = hosts.front();
  options.port_low = options.port_high = launch.master_port;
  return RendezvousServer::start(network, options);
}

template <typename T>
Status reduce_in_place(Communicator& world, std::vector<T>* values, DataType type, ReduceOp op) {
  if (values->empty()) return Status();
  return finish(world.allreduce(values->data(), values->data(), values->size(), type, op, {}));
}

}  // namespace

Status finish(const Communicator::WorkResult& work) {
  ISTHMUS_RETURN_IF_ERROR(work.status());
  return (*work)->wait(kUntilItEnds);
}

Result<std::unique_ptr<Job>> Job::form(const Launch& launch) {
  ISTHMUS_ASSIGN_OR_RETURN(const Options options, options_from_environment(Options()));
  log_to_stderr(options);
  std::unique_ptr<Job> job(new Job());
  ISTHMUS_ASSIGN_OR_RETURN(const SecurityConfig security, load_security(options));
  ISTHMUS_ASSIGN_OR_RETURN(job->network_, make_control_network(security));
  if (launch.rank == 0) {
    ISTHMUS_ASSIGN_OR_RETURN(job->server_, serve(job->network_.get(), launch));
  }
  ISTHMUS_ASSIGN_OR_RETURN(job->runtime_, Runtime::create(options));
  const TimePoint deadline =
      deadline_after(SteadyClock::instance().now(), std::chrono::milliseconds(options.connect_timeout_ms));
  ISTHMUS_ASSIGN_OR_RETURN(
      const auto store,
      TcpStore::connect(job->network_.get(), join_host_port(launch.master_host, launch.master_port), deadline));
  ISTHMUS_ASSIGN_OR_RETURN(job->world_,
                           Communicator::create(job->runtime_.get(), *store, launch.rank, launch.world_size, {}));
  return job;
}

Result<std::vector<std::string>> Job::gather_text(const std::string& value) {
  const auto ranks = static_cast<std::size_t>(world_->size());
  std::string mine = value.substr(0, kMaxTextBytes), all(ranks * kMaxTextBytes, '\0');
  mine.resize(kMaxTextBytes);
  ISTHMUS_RETURN_IF_ERROR(finish(world_->all_gather(mine.data(), all.data(), kMaxTextBytes, DataType::kUInt8, {})));
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::string_view text = std::string_view(all).substr(rank * kMaxTextBytes, kMaxTextBytes);
    texts.emplace_back(text.substr(0, text.find('\0')));
  }
  return texts;
}

Status Job::reduce(std::vector<double>* values, ReduceOp op) {
  return reduce_in_place(*world_, values, DataType::kFloat64, op);
}

Status Job::reduce(std::vector<std::int64_t>* values, ReduceOp op) {
  return reduce_in_place(*world_, values, DataType::kInt64, op);
}

Status Job::barrier() { return finish(world_->barrier({})); }

// Each rank proposes a moment that lies as far ahead as agreeing took at most until now; the last one proposed holds,
// and is still to come when all have heard of it. (The first time it has passed already: then it only takes a barrier.)
Status Job::wait_for_common_moment() {
  using Wall = std::chrono::system_clock;
  const Wall::time_point begin = Wall::now();
  std::vector<std::int64_t> moment{std::chrono::nanoseconds((begin + agreement_time_).time_since_epoch()).count()};
  ISTHMUS_RETURN_IF_ERROR(reduce(&moment, ReduceOp::kMax));
  agreement_time_ = std::max<std::chrono::nanoseconds>(agreement_time_, Wall::now() - begin);
  std::this_thread::sleep_until(Wall::time_point(std::chrono::nanoseconds(moment.front())));
  return Status();
}

}  // namespace isthmus::bench
