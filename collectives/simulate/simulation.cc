#include "collectives/simulate/simulation.h"

#include <algorithm>

#include "collectives/simulate/event_queue.h"
#include "collectives/simulate/simulated_wan.h"

namespace isthmus {
namespace {

constexpr SimulatedTime kStepNs = 5'000;      // of a processor, for any step
constexpr SimulatedTime kMateNs = 20'000;     // a message between mates
constexpr double kMateNsPerByte = 1 / 3.0;    // 3 GB/s
constexpr double kReduceNsPerByte = 1 / 4.0;  // of operands
constexpr double kNsPerSecond = 1e9;
constexpr std::uint32_t kMateBit = 0x8000'0000u;  // in SimulatedStep::target: a mate, not a link

enum EventKind : std::uint32_t { kStepDone = SimulatedWan::kEventKinds, kMateDelivered };

struct SimulatedStep {
  std::uint32_t target = 0;  // send: the link, or kMateBit | rank; receive: the sender
  std::uint32_t round = 0;
  std::uint32_t bytes = 0;  // reduce: of all operands
  std::uint32_t first_dependent = 0;
  std::uint32_t waits_for = 0;
  StepKind kind = StepKind::kCopy;
  bool is_started = false, is_there = false;  // receive
};

// Where the message of a sender's round is received.
struct Receipt {
  std::uint64_t key = 0;
  std::uint32_t step = 0;
};
std::uint64_t receipt_key(std::uint32_t sender, std::uint32_t round) { return std::uint64_t{sender} << 32 | round; }

class Simulation {
 public:
  Simulation(const Network& network, const SiteMap& sites) : sites_(sites), wan_(&network, &queue_) {}

  Status load(const std::function<Schedule(int)>& build) {
    for (int rank = 0; rank < sites_.size(); ++rank) {
      first_step_.push_back(static_cast<std::uint32_t>(steps_.size()));
      first_receipt_.push_back(receipts_.size());
      ISTHMUS_RETURN_IF_ERROR(load_rank(rank, build(rank)));
    }
    first_step_.push_back(static_cast<std::uint32_t>(steps_.size()));
    first_receipt_.push_back(receipts_.size());
    dependents_end_ = static_cast<std::uint32_t>(dependents_.size());
    processor_free_at_.assign(static_cast<std::size_t>(sites_.size()), 0);
    return Status();
  }

  Result<SimulationResult> run() {
    for (std::uint32_t step = 0; step < steps_.size(); ++step)
      if (steps_[step].waits_for == 0) start(step);
    while (!queue_.empty()) {
      const Event event = queue_.take();
      now_ = event.at;
      handle(event);
    }
    if (done_ != steps_.size())
      return internal_error("{} of {} simulated steps never end", steps_.size() - done_, steps_.size());
    SimulationResult result;
    result.seconds = static_cast<double>(ended_at_) / kNsPerSecond;
    for (int site = 0; site < sites_.site_count(); ++site) result.wan_bytes_sent.push_back(wan_.sent_bytes(site));
    result.wan_messages = wan_.messages();
    result.steps = steps_.size();
    result.events = queue_.planned();
    return result;
  }

 private:
  Status load_rank(int rank, const Schedule& schedule) {
    // Far too many is seen at the first rank; ranks differ by less than this.
    constexpr std::size_t kFar = 4;
    const std::size_t ahead = schedule.steps.size() * static_cast<std::size_t>(sites_.size() - rank) / kFar;
    if (steps_.size() + std::max(schedule.steps.size(), ahead) > kMaxSimulatedSteps)
      return unsupported(
          "this takes more than {} steps to simulate (rank {} of {} is reached): larger chunks, fewer sites or "
          "another algorithm take fewer",
          kMaxSimulatedSteps, rank, sites_.size());
    const auto base = static_cast<std::uint32_t>(steps_.size());
    links_of_rank_.assign(static_cast<std::size_t>(sites_.size()), SimulatedWan::kNoMessage);
    std::vector<std::uint32_t> count(schedule.steps.size() + 1, 0);
    for (const Step& step : schedule.steps) {
      steps_.push_back(simulated(rank, schedule, step));
      for (const std::uint32_t dependency : schedule.dependencies_of(step)) ++count[dependency];
    }
    const auto begin = static_cast<std::uint32_t>(dependents_.size());
    std::uint32_t next = begin;
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
      steps_[base + i].first_dependent = next;
      next += count[i];
      count[i] = steps_[base + i].first_dependent;
    }
    dependents_.resize(next);
    for (std::uint32_t i = 0; i < schedule.steps.size(); ++i)
      for (const std::uint32_t dependency : schedule.dependencies_of(schedule.steps[i]))
        dependents_[count[dependency]++] = base + i;
    add_receipts(schedule, base);
    return Status();
  }

  SimulatedStep simulated(int rank, const Schedule& schedule, const Step& step) {
    SimulatedStep result;
    result.kind = step.kind;
    result.round = step.round;
    result.target = step.peer;
    result.bytes = static_cast<std::uint32_t>(step.bytes);
    result.waits_for = step.dependency_count;
    if (step.kind == StepKind::kReduce)
      result.bytes = static_cast<std::uint32_t>(step.count * step.operand_count * dtype_size_bytes(schedule.type));
    if (step.kind == StepKind::kSend) result.target = target_of(rank, step.peer);
    return result;
  }

  std::uint32_t target_of(int rank, std::uint32_t peer) {
    const int from = sites_.site_of(rank), to = sites_.site_of(static_cast<int>(peer));
    if (from == to) return kMateBit | peer;
    std::uint32_t& link = links_of_rank_[peer];
    if (link != SimulatedWan::kNoMessage) return link;
    link = wan_.add_link(from, to);
    link_ends_.push_back({static_cast<std::uint32_t>(rank), peer});
    return link;
  }

  void add_receipts(const Schedule& schedule, std::uint32_t base) {
    const auto begin = static_cast<std::ptrdiff_t>(receipts_.size());
    for (std::uint32_t i = 0; i < schedule.steps.size(); ++i) {
      const Step& step = schedule.steps[i];
      if (step.kind == StepKind::kReceive) receipts_.push_back({receipt_key(step.peer, step.round), base + i});
    }
    std::sort(receipts_.begin() + begin, receipts_.end(),
              [](const Receipt& a, const Receipt& b) { return a.key < b.key; });
  }

  void start(std::uint32_t number) {
    SimulatedStep& step = steps_[number];
    switch (step.kind) {
      case StepKind::kSend:
        if ((step.target & kMateBit) == 0) return wan_.send(step.target, number, step.bytes, now_);
        return queue_.plan(now_ + kMateNs + static_cast<SimulatedTime>(kMateNsPerByte * step.bytes), kMateDelivered,
                           number);
      case StepKind::kReceive:
        step.is_started = true;
        if (step.is_there) finish(number);
        return;
      case StepKind::kReduce:
      case StepKind::kScale:
      case StepKind::kCopy: {
        SimulatedTime& free_at = processor_free_at_[rank_of(number)];
        free_at = std::max(free_at, now_) + kStepNs + static_cast<SimulatedTime>(kReduceNsPerByte * step.bytes);
        return queue_.plan(free_at, kStepDone, number);
      }
    }
  }

  void handle(const Event& event) {
    if (event.kind == kStepDone) return finish(event.subject);
    if (event.kind == kMateDelivered) {
      const std::uint32_t receiver = steps_[event.subject].target & ~kMateBit;
      finish(event.subject);
      return deliver(rank_of(event.subject), receiver, steps_[event.subject].round);
    }
    wan_.handle(
        event, [this](std::uint32_t send) { finish(send); },
        [this](std::uint32_t send) {
          const LinkEnds& ends = link_ends_[steps_[send].target];
          deliver(ends.from, ends.to, steps_[send].round);
        });
  }

  void deliver(std::uint32_t sender, std::uint32_t receiver, std::uint32_t round) {
    const auto begin = receipts_.begin() + static_cast<std::ptrdiff_t>(first_receipt_[receiver]);
    const auto end = receipts_.begin() + static_cast<std::ptrdiff_t>(first_receipt_[receiver + 1]);
    const std::uint64_t key = receipt_key(sender, round);
    const auto found = std::lower_bound(begin, end, key, [](const Receipt& r, std::uint64_t k) { return r.key < k; });
    if (found == end || found->key != key) return;  // never received: run() says so
    SimulatedStep& step = steps_[found->step];
    step.is_there = true;
    if (step.is_started) finish(found->step);
  }

  void finish(std::uint32_t number) {
    ++done_;
    ended_at_ = now_;
    const std::uint32_t end = number + 1 < steps_.size() ? steps_[number + 1].first_dependent : dependents_end_;
    for (std::uint32_t i = steps_[number].first_dependent; i < end; ++i)
      if (--steps_[dependents_[i]].waits_for == 0) start(dependents_[i]);
  }

  std::uint32_t rank_of(std::uint32_t step) const {
    const auto after = std::upper_bound(first_step_.begin(), first_step_.end(), step);
    return static_cast<std::uint32_t>(after - first_step_.begin() - 1);
  }

  struct LinkEnds {
    std::uint32_t from = 0, to = 0;
  };

  const SiteMap& sites_;
  EventQueue queue_;
  SimulatedWan wan_;
  std::vector<SimulatedStep> steps_;       // of all ranks, rank by rank
  std::vector<std::uint32_t> dependents_;  // of a step: from its first_dependent to that of the next step
  std::uint32_t dependents_end_ = 0;
  std::vector<Receipt> receipts_;  // of a rank: sorted
  std::vector<std::uint32_t> first_step_;
  std::vector<std::size_t> first_receipt_;
  std::vector<LinkEnds> link_ends_;
  std::vector<std::uint32_t> links_of_rank_;  // while a rank is read in
  std::vector<SimulatedTime> processor_free_at_;
  SimulatedTime now_ = 0, ended_at_ = 0;
  std::size_t done_ = 0;
};

}  // namespace

Result<SimulationResult> simulate_schedules(const Network& network, const SiteMap& sites,
                                            const std::function<Schedule(int rank)>& build) {
  if (sites.site_count() != network.site_count())
    return invalid_argument("ranks of {} sites on a network of {}", sites.site_count(), network.site_count());
  Simulation simulation(network, sites);
  ISTHMUS_RETURN_IF_ERROR(simulation.load(build));
  return simulation.run();
}

}  // namespace isthmus
