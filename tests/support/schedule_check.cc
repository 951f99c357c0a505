#include "tests/support/schedule_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace isthmus::testing {
namespace {

using Transfer = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // sender, receiver, round

std::string name_of(const Transfer& transfer) {
  const auto [sender, receiver, round] = transfer;
  return fmt::format("transfer {} -> {} round {}", sender, receiver, round);
}

Transfer transfer_of(std::size_t rank, const Step& step) {
  const auto self = static_cast<std::uint32_t>(rank);
  return step.kind == StepKind::kSend ? Transfer{self, step.peer, step.round} : Transfer{step.peer, self, step.round};
}

bool is_transfer(const Step& step) { return step.kind == StepKind::kSend || step.kind == StepKind::kReceive; }

std::string find_bad_step(std::size_t rank, const Schedule& schedule, const BufferLayout& layout) {
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    const Step& step = schedule.steps[i];
    for (const std::uint32_t dependency : schedule.dependencies_of(step)) {
      if (dependency >= i) return fmt::format("rank {} step {} depends on step {}", rank, i, dependency);
    }
    if (!is_in_bounds(schedule, step, layout)) return fmt::format("rank {} step {} is out of bounds", rank, i);
    if (step.kind != StepKind::kSend && step.region.space == Space::kInput) {
      return fmt::format("rank {} step {} writes to the input", rank, i);
    }
    if (is_transfer(step) && step.peer == rank) return fmt::format("rank {} step {} is to itself", rank, i);
    if (step.kind == StepKind::kScale && step.operand_count != 1) {
      return fmt::format("rank {} step {} scales {} operands", rank, i, step.operand_count);
    }
    if (step.kind == StepKind::kReduce && step.operand_count == 0) {
      return fmt::format("rank {} step {} reduces nothing", rank, i);
    }
  }
  return "";
}

// Every step before `step` that some chain of dependencies puts before it.
std::vector<std::vector<bool>> orders_of(const Schedule& schedule) {
  std::vector<std::vector<bool>> before(schedule.steps.size(), std::vector<bool>(schedule.steps.size()));
  for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
    for (const std::uint32_t dependency : schedule.dependencies_of(schedule.steps[i])) {
      before[i][dependency] = true;
      for (std::size_t k = 0; k < dependency; ++k) {
        if (before[dependency][k]) before[i][k] = true;
      }
    }
  }
  return before;
}

bool conflict(const std::vector<Access>& a, const std::vector<Access>& b) {
  return std::ranges::any_of(a, [&](const Access& one) {
    return std::ranges::any_of(b, [&](const Access& other) { return one.conflicts_with(other); });
  });
}

std::string find_race(std::size_t rank, const Schedule& schedule, const BufferLayout& layout) {
  std::vector<std::vector<Access>> accesses;
  for (const Step& step : schedule.steps) accesses.push_back(accesses_of(schedule, step, layout));
  const auto before = orders_of(schedule);
  for (std::size_t i = 0; i < accesses.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (!before[i][k] && conflict(accesses[i], accesses[k])) {
        return fmt::format("rank {} steps {} and {} touch the same bytes in any order", rank, k, i);
      }
    }
  }
  return "";
}

std::string find_unmatched(const std::vector<Schedule>& schedules) {
  std::map<Transfer, std::size_t> sent, received;
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    for (const Step& step : schedules[rank].steps) {
      if (!is_transfer(step)) continue;
      const Transfer transfer = transfer_of(rank, step);
      auto& side = step.kind == StepKind::kSend ? sent : received;
      if (!side.emplace(transfer, step.bytes).second) return name_of(transfer) + " occurs twice";
    }
  }
  if (sent == received) return "";
  for (const auto& [transfer, bytes] : sent) {
    const auto other = received.find(transfer);
    if (other == received.end()) return name_of(transfer) + " is not received";
    if (other->second != bytes)
      return fmt::format("{}: {} bytes sent, {} received", name_of(transfer), bytes, other->second);
  }
  return "a transfer is received that nobody sends";
}

}  // namespace

std::string find_defect(const std::vector<Schedule>& schedules, const std::vector<BufferLayout>& layouts) {
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    for (const auto& find : {find_bad_step, find_race}) {
      if (std::string defect = find(rank, schedules[rank], layouts[rank]); !defect.empty()) return defect;
    }
  }
  return find_unmatched(schedules);
}

std::vector<std::size_t> wan_bytes_sent(const std::vector<Schedule>& schedules, const SiteMap& sites) {
  std::vector<std::size_t> bytes(static_cast<std::size_t>(sites.site_count()));
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    const int site = sites.site_of(static_cast<int>(rank));
    for (const Step& step : schedules[rank].steps) {
      if (step.kind != StepKind::kSend || sites.site_of(static_cast<int>(step.peer)) == site) continue;
      bytes[static_cast<std::size_t>(site)] += step.bytes;
    }
  }
  return bytes;
}

int wan_trips(const std::vector<Schedule>& schedules, const SiteMap& sites) {
  std::map<Transfer, int> trips_of_send;  // at the time when it starts
  std::vector<std::vector<int>> trips(schedules.size());
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) trips[rank].resize(schedules[rank].steps.size());
  int most = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
      for (std::size_t i = 0; i < schedules[rank].steps.size(); ++i) {
        const Step& step = schedules[rank].steps[i];
        int value = 0;
        for (const std::uint32_t dependency : schedules[rank].dependencies_of(step)) {
          value = std::max(value, trips[rank][dependency]);
        }
        if (step.kind == StepKind::kReceive) {
          const bool over_wan = sites.site_of(static_cast<int>(step.peer)) != sites.site_of(static_cast<int>(rank));
          value = std::max(value, trips_of_send[transfer_of(rank, step)] + (over_wan ? 1 : 0));
        }
        if (step.kind == StepKind::kSend) trips_of_send[transfer_of(rank, step)] = value;
        changed = changed || value != trips[rank][i];
        trips[rank][i] = value;
        most = std::max(most, value);
      }
    }
  }
  return most;
}

}  // namespace isthmus::testing
