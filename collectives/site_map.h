// SiteMap: which ranks of a communicator form which site, in canonical order (sites by their lowest rank, ranks
// ascending inside a site).
//
// Threads: values.
#pragma once

#include <cstdint>
#include <vector>

namespace isthmus {

class SiteMap {
 public:
  SiteMap() = default;
  // `site_of_rank[r]` is any number that names the site of rank r; equal numbers, same site.
  explicit SiteMap(const std::vector<int>& site_of_rank);

  int size() const { return static_cast<int>(site_of_.size()); }  // ranks
  int site_count() const { return static_cast<int>(sites_.size()); }
  int site_of(int rank) const { return site_of_[static_cast<std::size_t>(rank)]; }
  int local_rank_of(int rank) const { return local_of_[static_cast<std::size_t>(rank)]; }
  const std::vector<int>& ranks_of(int site) const { return sites_[static_cast<std::size_t>(site)]; }
  int local_size(int site) const { return static_cast<int>(ranks_of(site).size()); }
  int max_local_size() const;

  // The rank of `site` that handles shard (or foreign local rank) `index`: sites differ in size, so shards are mapped
  // to the ranks that exist.
  int handler(int site, int index) const { return ranks_of(site)[static_cast<std::size_t>(index % local_size(site))]; }

 private:
  std::vector<std::vector<int>> sites_;
  std::vector<int> site_of_, local_of_;
};

}  // namespace isthmus
