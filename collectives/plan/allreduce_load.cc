#include "collectives/plan/allreduce_load.h"

#include <algorithm>
#include <numeric>

#include "collectives/schedule/double_tree.h"

namespace isthmus {
namespace {

std::vector<double> shares_of(const std::vector<std::uint32_t>& weights) {
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> shares;
  for (const std::uint32_t weight : weights) shares.push_back(weight / all);
  return shares;
}

std::vector<SiteLoad> direct_loads_of(const AllreduceLayout& layout) {
  const double others = static_cast<double>(layout.owner_weights.size()) - 1;
  std::vector<SiteLoad> loads;
  for (const double share : shares_of(layout.owner_weights)) {
    const double bytes = (1 - share) + others * share;
    loads.push_back({bytes, bytes, 0, 0});
  }
  return loads;
}

// A site sends the partials of all blocks but its own, and the results of all but those that its successor owns.
std::vector<SiteLoad> ring_loads(const AllreduceLayout& layout) {
  const std::vector<double> shares = shares_of(layout.owner_weights);
  const std::size_t sites = layout.site_order.size();
  std::vector<SiteLoad> loads(sites);
  for (std::size_t seat = 0; seat < sites; ++seat) {
    const auto at = [&](std::size_t offset) {
      return static_cast<std::size_t>(layout.site_order[(seat + offset) % sites]);
    };
    const double own = shares[at(0)], next = shares[at(1)], previous = shares[at(sites - 1)];
    loads[at(0)] = {2 - own - next, 2 - previous - own, 1 - own, 1 - previous};
  }
  return loads;
}

std::vector<SiteLoad> tree_loads(const AllreduceLayout& layout) {
  constexpr double kHalf = 1.0 / kTreeCount;
  const int sites = static_cast<int>(layout.site_order.size());
  std::vector<SiteLoad> loads(layout.site_order.size());
  for (int place = 0; place < sites; ++place) {
    SiteLoad& load = loads[static_cast<std::size_t>(layout.site_order[static_cast<std::size_t>(place)])];
    for (int tree = 0; tree < kTreeCount; ++tree) {
      const TreeNode node = tree_node(tree, place, sites);
      const double up = node.parent != kNoPlace ? kHalf : 0;
      const double children = kHalf * ((node.left != kNoPlace ? 1 : 0) + (node.right != kNoPlace ? 1 : 0));
      load.up += up + children;
      load.down += up + children;
      load.wide_up += up;
      load.wide_down += children;
    }
  }
  return loads;
}

// The slowest way to an owner, and from there on.
std::int64_t direct_way_us(const Network& network, const AllreduceLayout& layout) {
  std::int64_t longest = 0;
  for (int owner = 0; owner < network.site_count(); ++owner) {
    if (layout.owner_weights[static_cast<std::size_t>(owner)] == 0) continue;
    std::int64_t there = 0, back = 0;
    for (int site = 0; site < network.site_count(); ++site) {
      if (site == owner) continue;
      there = std::max(there, network.path(site, owner).delay_us);
      back = std::max(back, network.path(owner, site).delay_us);
    }
    longest = std::max(longest, there + back);
  }
  return longest;
}

std::int64_t exchange_way_us(const Network& network) {
  std::int64_t longest = 0;
  for (int from = 0; from < network.site_count(); ++from)
    for (int to = 0; to < network.site_count(); ++to)
      if (from != to) longest = std::max(longest, network.path(from, to).delay_us);
  return longest;
}

// Twice around, but for the hop that leads from the owner to where its block starts, and the one that ends at it again.
std::int64_t ring_way_us(const Network& network, const AllreduceLayout& layout) {
  const std::size_t sites = layout.site_order.size();
  std::vector<std::int64_t> hops;
  for (std::size_t seat = 0; seat < sites; ++seat)
    hops.push_back(network.path(layout.site_order[seat], layout.site_order[(seat + 1) % sites]).delay_us);
  const std::int64_t around = std::accumulate(hops.begin(), hops.end(), std::int64_t{0});
  std::int64_t longest = 0;
  for (std::size_t seat = 0; seat < sites; ++seat)
    longest = std::max(longest, 2 * around - hops[seat] - hops[(seat + sites - 1) % sites]);
  return longest;
}

// Below a place of a tree: the slowest way up to it, and down from it.
struct Ways {
  std::int64_t up = 0, down = 0;
};

Ways ways_below(const Network& network, const AllreduceLayout& layout, int tree, int place) {
  const int sites = static_cast<int>(layout.site_order.size());
  const auto site_at = [&](int at) { return layout.site_order[static_cast<std::size_t>(at)]; };
  const TreeNode node = tree_node(tree, place, sites);
  Ways ways;
  for (const int child : {node.left, node.right}) {
    if (child == kNoPlace) continue;
    const Ways below = ways_below(network, layout, tree, child);
    ways.up = std::max(ways.up, below.up + network.path(site_at(child), site_at(place)).delay_us);
    ways.down = std::max(ways.down, below.down + network.path(site_at(place), site_at(child)).delay_us);
  }
  return ways;
}

std::int64_t tree_way_us(const Network& network, const AllreduceLayout& layout) {
  const int sites = static_cast<int>(layout.site_order.size());
  std::int64_t longest = 0;
  for (int tree = 0; tree < kTreeCount; ++tree) {
    int root = 0;
    for (int parent = 0; parent != kNoPlace; parent = tree_node(tree, root, sites).parent) root = parent;
    const Ways ways = ways_below(network, layout, tree, root);
    longest = std::max(longest, ways.up + ways.down);
  }
  return longest;
}

}  // namespace

std::vector<SiteLoad> site_loads(const AllreduceLayout& layout) {
  switch (layout.algorithm) {
    case AllreduceAlgorithm::kDirect: return direct_loads_of(layout);
    case AllreduceAlgorithm::kRing: return ring_loads(layout);
    case AllreduceAlgorithm::kTree: return tree_loads(layout);
    case AllreduceAlgorithm::kExchange: break;
  }
  const std::size_t sites = layout.owner_weights.size();
  const double others = static_cast<double>(sites) - 1;
  return std::vector<SiteLoad>(sites, SiteLoad{others, others, 0, 0});
}

double pair_load(const AllreduceLayout& layout, int from, int to) {
  const auto place_of = [&](int site) {
    return static_cast<int>(std::ranges::find(layout.site_order, site) - layout.site_order.begin());
  };
  const int sites = static_cast<int>(layout.owner_weights.size());
  switch (layout.algorithm) {
    case AllreduceAlgorithm::kExchange: return 1;
    case AllreduceAlgorithm::kDirect: {
      const double all = std::accumulate(layout.owner_weights.begin(), layout.owner_weights.end(), 0.0);
      const auto share = [&](int site) { return layout.owner_weights[static_cast<std::size_t>(site)] / all; };
      return share(from) + share(to);
    }
    case AllreduceAlgorithm::kRing:
      return (place_of(from) + 1) % sites == place_of(to) ? site_loads(layout)[static_cast<std::size_t>(from)].up : 0;
    case AllreduceAlgorithm::kTree: break;
  }
  double load = 0;
  for (int tree = 0; tree < kTreeCount; ++tree) {
    const bool is_up = tree_node(tree, place_of(from), sites).parent == place_of(to);
    const bool is_down = tree_node(tree, place_of(to), sites).parent == place_of(from);
    if (is_up || is_down) load += 1.0 / kTreeCount;
  }
  return load;
}

double messages_per_site(AllreduceAlgorithm algorithm, int sites, double chunks) {
  const double others = sites - 1;
  switch (algorithm) {
    case AllreduceAlgorithm::kExchange: return others * chunks;
    case AllreduceAlgorithm::kDirect:
    case AllreduceAlgorithm::kRing: return 2 * others * chunks;
    case AllreduceAlgorithm::kTree: break;
  }
  return std::min(4.0, 2 * others) * chunks;  // up, and down to two, in one tree; up in the other
}

std::int64_t longest_way_us(const Network& network, const AllreduceLayout& layout) {
  if (network.site_count() < 2) return 0;
  switch (layout.algorithm) {
    case AllreduceAlgorithm::kExchange: return exchange_way_us(network);
    case AllreduceAlgorithm::kDirect: return direct_way_us(network, layout);
    case AllreduceAlgorithm::kRing: return ring_way_us(network, layout);
    case AllreduceAlgorithm::kTree: break;
  }
  return tree_way_us(network, layout);
}

}  // namespace isthmus
