#include "collectives/plan/site_order.h"

#include <algorithm>
#include <tuple>

namespace isthmus {
namespace {

std::int64_t rate_one_way(const Network& network, int from, int to) {
  const SitePath& path = network.path(from, to);
  const std::int64_t lines = std::min(network.sites[static_cast<std::size_t>(from)].up_bytes_per_sec,
                                      network.sites[static_cast<std::size_t>(to)].down_bytes_per_sec);
  return path.bytes_per_sec > 0 ? std::min(lines, path.bytes_per_sec) : lines;
}

std::int64_t rate_between(const Network& network, int a, int b) {
  return std::min(rate_one_way(network, a, b), rate_one_way(network, b, a));
}

}  // namespace

std::vector<int> neighbour_order(const Network& network) {
  std::vector<int> left;
  for (int site = 1; site < network.site_count(); ++site) left.push_back(site);
  std::vector<int> order = {0};
  while (!left.empty()) {
    const int here = order.back();
    const auto next = std::ranges::min_element(left, {}, [&](int site) {
      return std::tuple(-rate_between(network, here, site), network.path(here, site).delay_us, site);
    });
    order.push_back(*next);
    left.erase(next);
  }
  return order;
}

}  // namespace isthmus
