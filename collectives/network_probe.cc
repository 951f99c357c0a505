#include "collectives/network_probe.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include "collectives/communicator.h"

namespace isthmus {
namespace {

constexpr std::size_t kFirstBytes = 64 * 1024, kGrowth = 4;
constexpr std::size_t kMaxBytesOfAll = 64 * 1024 * 1024;  // that a site sends in a round
constexpr int kRounds = 6;
constexpr int kPings = 3;
constexpr std::int64_t kPartOfLimit = 3;

using Works = std::vector<std::shared_ptr<Work>>;

// When each of some operations ended, seen on the completion thread: waiting for them in turn would see the slowest.
class Stopwatch {
 public:
  Status watch(const Works& works) {
    state_->ends.resize(works.size());
    for (std::size_t i = 0; i < works.size(); ++i) {
      ISTHMUS_RETURN_IF_ERROR(works[i]->on_complete([state = state_, i](const Status&) {
        std::lock_guard lock(state->mutex);
        state->ends[i] = SteadyClock::instance().now();
        if (++state->ended == state->ends.size()) state->all_ended.notify_all();
      }));
    }
    return Status();
  }

  // Once all works were waited for: their callbacks come a moment later.
  std::vector<Duration> lasted(TimePoint start) {
    std::unique_lock lock(state_->mutex);
    state_->all_ended.wait(lock, [&] { return state_->ended == state_->ends.size(); });
    std::vector<Duration> durations;
    for (const TimePoint end : state_->ends) durations.push_back(end - start);
    return durations;
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable all_ended;
    std::vector<TimePoint> ends;
    std::size_t ended = 0;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Operations under way. All are waited for, whatever happens: they use memory of the probe.
class Batch {
 public:
  std::shared_ptr<Work> add(Communicator::WorkResult work) {
    if (!work.ok()) {
      if (status_.ok()) status_ = work.status();
      return nullptr;
    }
    works_.push_back(*work);
    return works_.back();
  }
  Status wait() {
    for (const std::shared_ptr<Work>& work : works_) {
      const Status status = work->wait(Duration(-1));
      if (status_.ok()) status_ = status;
    }
    return status_;
  }

 private:
  Works works_;
  Status status_;
};

class Probe {
 public:
  Probe(Communicator& communicator, Duration limit)
      : communicator_(communicator),
        sites_(communicator.sites()),
        count_(static_cast<std::size_t>(sites_.site_count())),
        here_(static_cast<std::size_t>(sites_.site_of(communicator.rank()))),
        leads_(sites_.ranks_of(static_cast<int>(here_))[0] == communicator.rank()),
        limit_(limit),
        mine_(count_) {}

  Result<std::vector<PathSample>> run() {
    for (int i = 0; leads_ && i < kPings; ++i) ISTHMUS_RETURN_IF_ERROR(ping_all());
    std::size_t bytes = kFirstBytes;
    for (int round = 0; round < kRounds; ++round, bytes *= kGrowth) {
      std::uint64_t took_us = 0;
      if (leads_) {
        ISTHMUS_ASSIGN_OR_RETURN(took_us, exchange(std::min(bytes, kMaxBytesOfAll / count_)));
      }
      ISTHMUS_ASSIGN_OR_RETURN(const std::uint64_t longest_us, longest_of_all(took_us));
      if (std::chrono::microseconds(longest_us) * kPartOfLimit >= limit_) break;
    }
    return share();
  }

 private:
  int leader(std::size_t site) const { return sites_.ranks_of(static_cast<int>(site))[0]; }

  // The lower site of a pair starts; both know the result in the end.
  Status ping_all() {
    Batch batch;
    Works started;
    std::vector<std::size_t> to;
    const TimePoint start = SteadyClock::instance().now();
    for (std::size_t site = 0; site < count_; ++site) {
      if (site == here_) continue;
      const std::shared_ptr<Work> work = batch.add(communicator_.ping(leader(site), here_ < site));
      if (here_ > site || !work) continue;
      started.push_back(work);
      to.push_back(site);
    }
    Stopwatch stopwatch;
    const Status watched = stopwatch.watch(started);
    ISTHMUS_RETURN_IF_ERROR(batch.wait());
    ISTHMUS_RETURN_IF_ERROR(watched);
    const std::vector<Duration> lasted = stopwatch.lasted(start);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const auto us =
          std::max<std::int64_t>(1, std::chrono::duration_cast<std::chrono::microseconds>(lasted[i]).count());
      std::int64_t& best = mine_[to[i]].round_trip_us;
      best = best == 0 ? us : std::min(best, us);
    }
    return Status();
  }

  // A message to and from every other site at the same time. Returns the microseconds of the slowest.
  Result<std::uint64_t> exchange(std::size_t bytes) {
    out_.resize(bytes);
    in_.resize(bytes * count_);
    Batch batch;
    Works received;
    std::vector<std::size_t> from;
    const TimePoint start = SteadyClock::instance().now();
    for (std::size_t k = 1; k < count_; ++k) {
      const std::size_t there = (here_ + count_ - k) % count_;
      const std::shared_ptr<Work> work =
          batch.add(communicator_.receive(in_.data() + there * bytes, bytes, DataType::kUInt8, leader(there), {}));
      if (!work) continue;
      received.push_back(work);
      from.push_back(there);
    }
    for (std::size_t k = 1; k < count_; ++k)
      batch.add(communicator_.send(out_.data(), bytes, DataType::kUInt8, leader((here_ + k) % count_), {}));
    Stopwatch stopwatch;
    const Status watched = stopwatch.watch(received);
    ISTHMUS_RETURN_IF_ERROR(batch.wait());
    ISTHMUS_RETURN_IF_ERROR(watched);
    const std::vector<Duration> lasted = stopwatch.lasted(start);
    std::uint64_t longest_us = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const double us = std::max(1.0, static_cast<double>(lasted[i].count()) / 1e3);
      longest_us = std::max(longest_us, static_cast<std::uint64_t>(us));
      // The first byte was half a round trip on its way.
      const double way = std::min(us / 2, static_cast<double>(mine_[from[i]].round_trip_us) / 2);
      mine_[from[i]].received_bytes_per_sec = static_cast<std::int64_t>(static_cast<double>(bytes) / (us - way) * 1e6);
    }
    return longest_us;
  }

  Result<std::uint64_t> longest_of_all(std::uint64_t took_us) {
    const auto mine = static_cast<std::int64_t>(took_us);
    std::int64_t longest = 0;
    ISTHMUS_ASSIGN_OR_RETURN(const auto work,
                             communicator_.allreduce(&mine, &longest, 1, DataType::kInt64, ReduceOp::kMax, {}));
    ISTHMUS_RETURN_IF_ERROR(work->wait(Duration(-1)));
    return static_cast<std::uint64_t>(longest);
  }

  // Every rank gets the row of every site's first rank. A ping is known to its starter only; measured_network takes
  // either.
  Result<std::vector<PathSample>> share() {
    constexpr std::size_t kNumbers = 3;
    std::vector<std::int64_t> row, all(kNumbers * count_ * static_cast<std::size_t>(sites_.size()));
    for (const PathSample& sample : mine_)
      row.insert(row.end(), {sample.round_trip_us, sample.received_bytes_per_sec, sample.lost_ppm});
    ISTHMUS_ASSIGN_OR_RETURN(const auto work,
                             communicator_.all_gather(row.data(), all.data(), row.size(), DataType::kInt64, {}));
    ISTHMUS_RETURN_IF_ERROR(work->wait(Duration(-1)));
    std::vector<PathSample> samples;
    for (std::size_t site = 0; site < count_; ++site) {
      for (std::size_t there = 0; there < count_; ++there) {
        const std::int64_t* numbers = &all[(static_cast<std::size_t>(leader(site)) * count_ + there) * kNumbers];
        samples.push_back({numbers[0], numbers[1], numbers[2]});
      }
    }
    return samples;
  }

  Communicator& communicator_;
  const SiteMap& sites_;
  const std::size_t count_, here_;
  const bool leads_;
  const Duration limit_;
  std::vector<PathSample> mine_;
  std::vector<std::byte> out_, in_;
};

}  // namespace

Result<std::vector<PathSample>> probe_paths(Communicator& communicator, Duration limit) {
  return Probe(communicator, limit).run();
}

}  // namespace isthmus
