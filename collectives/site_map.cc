#include "collectives/site_map.h"

#include <algorithm>
#include <map>

namespace isthmus {

SiteMap::SiteMap(const std::vector<int>& site_of_rank) {
  std::map<int, int> index_of_name;  // in order of the first rank seen, which is the lowest
  for (int rank = 0; rank < static_cast<int>(site_of_rank.size()); ++rank) {
    const int name = site_of_rank[static_cast<std::size_t>(rank)];
    const auto [entry, is_new] = index_of_name.try_emplace(name, static_cast<int>(sites_.size()));
    if (is_new) sites_.emplace_back();
    auto& ranks = sites_[static_cast<std::size_t>(entry->second)];
    site_of_.push_back(entry->second);
    local_of_.push_back(static_cast<int>(ranks.size()));
    ranks.push_back(rank);
  }
}

int SiteMap::max_local_size() const {
  std::size_t largest = 0;
  for (const auto& ranks : sites_) largest = std::max(largest, ranks.size());
  return static_cast<int>(largest);
}

}  // namespace isthmus
