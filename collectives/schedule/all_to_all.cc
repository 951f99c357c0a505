#include "collectives/schedule/all_to_all.h"

#include <numeric>

#include "collectives/schedule/builder.h"

namespace isthmus {
namespace {

// Below this a message costs its latency and its handling more than its bytes.
constexpr std::size_t kStagedMessageBytes = 64 * 1024;

std::vector<std::size_t> offsets_of(const std::vector<std::size_t>& sizes) {
  std::vector<std::size_t> offsets(sizes.size());
  std::exclusive_scan(sizes.begin(), sizes.end(), offsets.begin(), std::size_t{0});
  return offsets;
}

// Peers in an order that differs by rank, so that all do not send to the same one: other sites first.
std::vector<int> peers_in_turn(const SiteMap& sites, int rank) {
  std::vector<int> peers;
  const int site = sites.site_of(rank), local = sites.local_rank_of(rank);
  for (int k = 1; k <= sites.site_count(); ++k) {
    const int other = (site + k) % sites.site_count();
    for (int j = 0; j < sites.local_size(other); ++j) {
      const int peer = sites.handler(other, local + j);
      if (peer != rank) peers.push_back(peer);
    }
  }
  return peers;
}

// kStaged. The message from site s to site t lies in scratch on both ends as [rank of t][rank of s], so that what a
// rank of t receives is one piece of it. Between mates blocks go straight.
class Staged {
 public:
  Staged(const SiteMap& sites, const AllToAllRequest& request)
      : sites_(sites),
        rank_(request.rank),
        site_(sites.site_of(request.rank)),
        local_(static_cast<std::size_t>(sites.local_rank_of(request.rank))),
        bytes_(request.block_bytes),
        builder_(DataType::kUInt8, ReduceOp::kSum) {}

  Schedule build() {
    for (int k = 1; k < sites_.site_count(); ++k) send_to_site((site_ + k) % sites_.site_count());
    for (int k = 1; k < sites_.site_count(); ++k) take_from_site((site_ + k) % sites_.site_count());
    for (const int mate : sites_.ranks_of(site_)) {
      if (mate == rank_) continue;
      builder_.send(mate, kBetweenMates, input_of(mate), bytes_, {});
      builder_.receive(mate, kBetweenMates, output_of(mate), bytes_, {});
    }
    builder_.copy(output_of(rank_), input_of(rank_), bytes_, {});
    return builder_.take();
  }

 private:
  static constexpr std::uint32_t kBetweenMates = 0;
  // A rank may be in charge of several sites, so rounds name the site.
  static std::uint32_t round(int site, Phase phase) { return round_of(static_cast<std::uint32_t>(site) + 1, phase); }
  std::size_t size_of(int site) const { return static_cast<std::size_t>(sites_.local_size(site)); }

  // Who in `site` has the messages to and from `other`; neighbours by number are in different charge.
  int in_charge(int site, int other) const {
    return sites_.handler(site, (other - site + sites_.site_count()) % sites_.site_count());
  }

  void send_to_site(int other) {
    const int charge = in_charge(site_, other);
    if (charge != rank_) {
      for (const int peer : sites_.ranks_of(other))
        builder_.send(charge, piece_round(peer), input_of(peer), bytes_, {});
      return;
    }
    const std::size_t mates = size_of(site_);
    const Region message = builder_.allocate_scratch(mates * size_of(other) * bytes_);
    std::vector<StepIndex> pieces;
    for (std::size_t to = 0; to < size_of(other); ++to) {
      const int peer = sites_.ranks_of(other)[to];
      for (std::size_t from = 0; from < mates; ++from) {
        const Region place{Space::kScratch, message.offset_bytes + (to * mates + from) * bytes_};
        const int mate = sites_.ranks_of(site_)[from];
        pieces.push_back(mate == rank_ ? builder_.copy(place, input_of(peer), bytes_, {})
                                       : builder_.receive(mate, piece_round(peer), place, bytes_, {}));
      }
    }
    builder_.send(in_charge(other, site_), 0, message, mates * size_of(other) * bytes_, pieces);
  }

  // Pieces of one mate for the ranks of one site: named by the rank, apart from all other rounds.
  std::uint32_t piece_round(int peer) const {
    return round_of(static_cast<std::uint32_t>(sites_.site_count() + 1 + peer), Phase::kToHandler);
  }

  void take_from_site(int other) {
    const int charge = in_charge(site_, other);
    const std::size_t sources = size_of(other);
    if (charge != rank_) {
      const Region piece = builder_.allocate_scratch(sources * bytes_);
      const StepIndex received =
          builder_.receive(charge, round(other, Phase::kFromHandler), piece, sources * bytes_, {});
      return hand_over(other, piece, received);
    }
    const Region message = builder_.allocate_scratch(sources * size_of(site_) * bytes_);
    const StepIndex received =
        builder_.receive(in_charge(other, site_), 0, message, sources * size_of(site_) * bytes_, {});
    for (std::size_t to = 0; to < size_of(site_); ++to) {
      const Region piece{Space::kScratch, message.offset_bytes + to * sources * bytes_};
      if (to == local_) {
        hand_over(other, piece, received);
      } else {
        builder_.send(sites_.ranks_of(site_)[to], round(other, Phase::kFromHandler), piece, sources * bytes_,
                      After(received));
      }
    }
  }

  void hand_over(int other, const Region& piece, StepIndex received) {
    for (std::size_t from = 0; from < size_of(other); ++from)
      builder_.copy(output_of(sites_.ranks_of(other)[from]), {Space::kScratch, piece.offset_bytes + from * bytes_},
                    bytes_, After(received));
  }

  Region input_of(int rank) const { return {Space::kInput, static_cast<std::size_t>(rank) * bytes_}; }
  Region output_of(int rank) const { return {Space::kOutput, static_cast<std::size_t>(rank) * bytes_}; }

  const SiteMap& sites_;
  const int rank_;
  const int site_;
  const std::size_t local_;
  const std::size_t bytes_;
  ScheduleBuilder builder_;
};

}  // namespace

std::string_view all_to_all_algorithm_name(AllToAllAlgorithm algorithm) {
  return algorithm == AllToAllAlgorithm::kStaged ? "staged" : "pairwise";
}

Result<AllToAllAlgorithm> parse_all_to_all_algorithm(std::string_view option, const SiteMap& sites,
                                                     std::size_t block_bytes) {
  if (option == "pairwise") return AllToAllAlgorithm::kPairwise;
  if (option == "staged") return AllToAllAlgorithm::kStaged;
  if (option != "auto")
    return invalid_argument("all-to-all algorithm \"{}\" is none of auto, pairwise, staged", option);
  const auto largest = static_cast<std::size_t>(sites.max_local_size());
  const bool is_small = block_bytes <= kStagedMessageBytes / (largest * largest);
  return is_small && largest > 1 && sites.site_count() > 1 ? AllToAllAlgorithm::kStaged : AllToAllAlgorithm::kPairwise;
}

Schedule build_all_to_all(const SiteMap& sites, const AllToAllRequest& request) {
  if (request.block_bytes == 0) return {};
  if (request.algorithm == AllToAllAlgorithm::kStaged) return Staged(sites, request).build();
  const std::vector<std::size_t> sizes(static_cast<std::size_t>(sites.size()), request.block_bytes);
  return build_all_to_all_v(sites, {request.rank, sizes, sizes});
}

Schedule build_all_to_all_v(const SiteMap& sites, const AllToAllVRequest& request) {
  const std::vector<std::size_t> from = offsets_of(request.send_bytes), to = offsets_of(request.recv_bytes);
  const auto own = static_cast<std::size_t>(request.rank);
  ScheduleBuilder builder(DataType::kUInt8, ReduceOp::kSum);
  builder.reserve(2 * request.send_bytes.size(), 1, 0);
  for (const int peer : peers_in_turn(sites, request.rank)) {
    const auto index = static_cast<std::size_t>(peer);
    builder.send(peer, 0, {Space::kInput, from[index]}, request.send_bytes[index], {});
    builder.receive(peer, 0, {Space::kOutput, to[index]}, request.recv_bytes[index], {});
  }
  builder.copy({Space::kOutput, to[own]}, {Space::kInput, from[own]}, request.send_bytes[own], {});
  return builder.take();
}

}  // namespace isthmus
