#include "benchmarks/bench/measure.h"

#include <algorithm>
#include <set>
#include <thread>

#include "benchmarks/bench/exercise.h"

namespace isthmus::bench {
namespace {

constexpr int kStreamDepth = 2;  // the calls of the next iteration are issued before those of this one have ended

double to_us(Duration duration) { return std::chrono::duration<double, std::micro>(duration).count(); }

// The iterations of one rank, warm-up included. An iteration lasts from its issue, or the end of the one before where
// that is later, to its end.
class Loop {
 public:
  Loop(Job& job, const BenchOptions& options, const ExerciseOptions& exercise, const Pattern& pattern)
      : job_(job), options_(options) {
    const bool is_pipelined = options.run_case == Case::kStream && options.gap == Duration{} &&
                              options.start == Start::kBackToBack && options.check != Check::kAll;
    const int depth = is_pipelined ? kStreamDepth : 1;
    for (int i = 0; i < depth; ++i) exercises_.emplace_back(exercise, &job.world(), pattern);
  }

  Status run() {
    for (Exercise& exercise : exercises_) exercise.prepare(next_seed_++);
    ISTHMUS_RETURN_IF_ERROR(job_.barrier());
    const int depth = static_cast<int>(exercises_.size()), all = options_.warmup + options_.iterations;
    for (int i = 0; i < all + depth - 1; ++i) {
      if (i < all) ISTHMUS_RETURN_IF_ERROR(begin(i));
      if (i >= depth - 1) ISTHMUS_RETURN_IF_ERROR(end(i - depth + 1));
    }
    sent_bytes_ = wan_sent() - sent_before_;
    if (options_.check == Check::kLast) ISTHMUS_RETURN_IF_ERROR(check_last(all - 1));
    return Status();
  }

  bool is_timed() const { return exercises_.front().is_timed(); }
  // Zeroes on a rank that is not timed.
  std::vector<double> times_us() const {
    std::vector<double> times(times_us_.begin() + options_.warmup, times_us_.end());
    if (!is_timed()) std::fill(times.begin(), times.end(), 0.0);
    return times;
  }
  std::uint64_t wrong() const { return wrong_; }
  std::uint64_t checked() const { return checked_; }
  std::uint64_t sent_bytes() const { return sent_bytes_; }

 private:
  Exercise& exercise(int iteration) { return exercises_[static_cast<std::size_t>(iteration) % exercises_.size()]; }
  std::uint64_t wan_sent() { return job_.runtime().counters().wan.sent_bytes.value(); }

  Status begin(int iteration) {
    if (options_.check == Check::kAll) exercise(iteration).prepare(next_seed_++);
    if (iteration > 0 && options_.gap > Duration{}) std::this_thread::sleep_for(options_.gap);
    if (options_.start == Start::kBarrier) ISTHMUS_RETURN_IF_ERROR(job_.barrier());
    if (options_.start == Start::kClock) ISTHMUS_RETURN_IF_ERROR(job_.wait_for_common_moment());
    if (iteration == options_.warmup) sent_before_ = wan_sent();
    issued_.push_back(SteadyClock::instance().now());
    return exercise(iteration).start();
  }

  Status end(int iteration) {
    ISTHMUS_RETURN_IF_ERROR(exercise(iteration).finish());
    const TimePoint now = SteadyClock::instance().now();
    times_us_.push_back(to_us(now - std::max(issued_[static_cast<std::size_t>(iteration)], last_end_)));
    last_end_ = now;
    if (options_.check == Check::kAll) check(iteration);
    return Status();
  }

  void check(int iteration) {
    wrong_ += exercise(iteration).count_wrong();
    ++checked_;
  }

  // What the timed iterations left, and then one more with data that no earlier one had.
  Status check_last(int iteration) {
    check(iteration);
    exercise(iteration).prepare(next_seed_++);
    ISTHMUS_RETURN_IF_ERROR(exercise(iteration).start());
    ISTHMUS_RETURN_IF_ERROR(exercise(iteration).finish());
    check(iteration);
    return Status();
  }

  Job& job_;
  const BenchOptions& options_;
  std::vector<Exercise> exercises_;
  std::vector<TimePoint> issued_;
  std::vector<double> times_us_;
  TimePoint last_end_ = TimePoint::min();
  std::uint64_t next_seed_ = 1, wrong_ = 0, checked_ = 0, sent_before_ = 0, sent_bytes_ = 0;
};

}  // namespace

Result<Measurement> measure(Job& job, const BenchOptions& options, std::uint64_t size_bytes) {
  Measurement result;
  const int ranks = job.world().size();
  result.call = call_size(options.run_case, size_bytes, options.dtype, ranks);
  ISTHMUS_ASSIGN_OR_RETURN(const Pattern pattern, Pattern::create(options.dtype, options.op, ranks));
  ExerciseOptions exercise{options.run_case,  options.dtype,    options.op,
                           result.call.count, options.together, options.timeout};
  Loop loop(job, options, exercise, pattern);
  ISTHMUS_RETURN_IF_ERROR(loop.run());

  std::vector<std::int64_t> sums{static_cast<std::int64_t>(loop.wrong()), static_cast<std::int64_t>(loop.sent_bytes()),
                                 loop.is_timed() ? 1 : 0};
  ISTHMUS_RETURN_IF_ERROR(job.reduce(&sums, ReduceOp::kSum));
  result.times_us = result.slowest_us = loop.times_us();
  ISTHMUS_RETURN_IF_ERROR(job.reduce(&result.slowest_us, ReduceOp::kMax));
  ISTHMUS_RETURN_IF_ERROR(job.reduce(&result.times_us, ReduceOp::kSum));
  for (double& time : result.times_us) time /= static_cast<double>(sums[2]);
  result.wrong = static_cast<std::uint64_t>(sums[0]);
  result.wan_sent_bytes = static_cast<std::uint64_t>(sums[1]);
  result.checked_iterations = loop.checked();
  return result;
}

Result<LaneSummary> summarize_lanes(Job& job) {
  std::vector<std::int64_t> most{0};
  std::set<std::string> own;
  for (const LinkReport& link : job.runtime().link_report()) {
    most[0] = std::max(most[0], static_cast<std::int64_t>(link.lanes.size()));
    for (const LaneInfo& lane : link.lanes)
      if (!lane.congestion.empty()) own.insert(lane.congestion);
  }
  ISTHMUS_RETURN_IF_ERROR(job.reduce(&most, ReduceOp::kMax));
  ISTHMUS_ASSIGN_OR_RETURN(const auto texts, job.gather_text(fmt::format("{}", fmt::join(own, "+"))));
  std::set<std::string> all;
  for (const std::string& text : texts)
    if (!text.empty()) all.insert(text);
  return LaneSummary{static_cast<int>(most[0]), fmt::format("{}", fmt::join(all, "+"))};
}

}  // namespace isthmus::bench
