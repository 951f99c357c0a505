#include "runtime/bootstrap/group.h"

#include <algorithm>
#include <map>
#include <random>

#include "runtime/base/bytes.h"
#include "runtime/bootstrap/rendezvous_round.h"
#include "runtime/bootstrap/site_detection.h"

namespace isthmus {
namespace {

constexpr Duration kTimeToTell = std::chrono::seconds(3);

std::uint64_t draw_group_id() {
  std::random_device device;
  std::uint64_t id = 0;
  while (id == 0) id = std::uint64_t{device()} << 32 | device();
  return id;
}

std::string encode_texts(std::uint64_t number, const std::vector<std::string>& texts) {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.put(number);
  writer.put(static_cast<std::uint32_t>(texts.size()));
  for (const std::string& text : texts) writer.put_text(text);
  return bytes;
}

struct NumberedTexts {
  std::uint64_t number = 0;
  std::vector<std::string> texts;
};

Result<NumberedTexts> decode_texts(const std::string& bytes, int expected) {
  ByteReader reader(as_bytes(bytes));
  NumberedTexts result;
  result.number = reader.get<std::uint64_t>();
  const auto count = reader.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) result.texts.emplace_back(reader.get_text());
  if (!reader.at_end() || static_cast<int>(count) != expected)
    return corruption("rendezvous answer with {} entries, {} are expected", count, expected);
  return result;
}

Result<std::vector<ProcessInfo>> decode_members(const std::vector<std::string>& records) {
  std::vector<ProcessInfo> members;
  for (const std::string& record : records) {
    ISTHMUS_ASSIGN_OR_RETURN(ProcessInfo info, ProcessInfo::decode(record));
    members.push_back(std::move(info));
  }
  return members;
}

// Nobody is left to think that the line is sealed when it is not.
Status check_sites_secured(const std::vector<ProcessInfo>& members, const std::vector<std::string>& sites) {
  if (members[0].security != SecurityLevel::kNone) return Status();
  for (std::size_t rank = 1; rank < sites.size(); ++rank)
    if (sites[rank] != sites[0])
      return invalid_argument(
          "rank 0 (site {}) and rank {} (site {}) are in several sites and there is no job secret: {}", sites[0], rank,
          sites[rank], kWaysOutOfNoSecret);
  return Status();
}

// Rank 0 compares everyone with itself.
Status check_members(const std::vector<ProcessInfo>& members) {
  for (std::size_t rank = 1; rank < members.size(); ++rank) {
    const ProcessInfo &first = members[0], &other = members[rank];
    if (other.protocol_version != first.protocol_version)
      return unsupported("rank {} speaks protocol version {} (library {}), rank 0 version {} (library {})", rank,
                         other.protocol_version, other.library_version, first.protocol_version, first.library_version);
    if (other.transport != first.transport)
      return invalid_argument("options differ: rank {} uses {}, rank 0 {}", rank, other.transport, first.transport);
    if (other.security != first.security)
      return invalid_argument("authentication failed: rank {} has {}, rank 0 {}: all ranks need the same", rank,
                              security_level_name(other.security), security_level_name(first.security));
  }
  ISTHMUS_ASSIGN_OR_RETURN(const bool given, sites_are_given(members));
  std::vector<std::string> sites;
  for (const ProcessInfo& member : members) sites.push_back(member.site);
  return given ? check_sites_secured(members, sites) : Status();
}

std::string rank_name(const ProcessInfo& info, int rank) {
  return info.site.empty() ? fmt::format("rank {}", rank) : fmt::format("rank {} (site {})", rank, info.site);
}

BindRequest bind_request(const std::vector<ProcessInfo>& members, int rank) {
  const ProcessInfo& self = members[static_cast<std::size_t>(rank)];
  BindRequest request;
  for (const ProcessInfo& other : members) {
    if (other.network_id == self.network_id) continue;
    request.all_on_one_host = false;
    request.peer_hosts.insert(request.peer_hosts.end(), other.candidate_hosts.begin(), other.candidate_hosts.end());
  }
  // A mate on this host must reach what is bound for the remote members, so one remote member decides for all.
  for (const ProcessInfo& a : members)
    if (a.network_id != members[0].network_id) request.all_on_one_host = false;
  return request;
}

// Who cannot connect must be heard before the others give up waiting for him.
TimePoint connect_deadline(TimePoint deadline) {
  const Duration left = deadline - SteadyClock::instance().now();
  return deadline - std::clamp(left / 4, Duration(0), kTimeToTell);
}

// What a rank hands in last: its control connections stand, and what it measured.
Result<std::string> connect_and_measure(const FormGroupRequest& request, const std::vector<ProcessInfo>& members,
                                        bool given) {
  std::vector<ProcessInfo> peers;
  std::vector<std::string> names;
  for (int rank = 0; rank < request.size; ++rank) {
    if (rank == request.rank) continue;
    peers.push_back(members[static_cast<std::size_t>(rank)]);
    names.push_back(rank_name(peers.back(), rank));
  }
  ISTHMUS_RETURN_IF_ERROR(request.mesh->connect(peers, names, connect_deadline(request.deadline)));
  std::string bytes;
  if (given) return bytes;
  ISTHMUS_ASSIGN_OR_RETURN(const std::vector<HostRoundTrip> measured,
                           measure_hosts(members, request.rank, *request.mesh, request.deadline));
  ByteWriter writer(&bytes);
  for (const HostRoundTrip& trip : measured) {
    writer.put(trip.to_rank);
    writer.put(trip.round_trip_us);
  }
  return bytes;
}

std::vector<HostRoundTrip> decode_measured(const std::vector<std::string>& records, int size) {
  std::vector<HostRoundTrip> measured;
  for (std::uint32_t rank = 0; rank < records.size(); ++rank) {
    ByteReader reader(as_bytes(records[rank]));
    while (reader.ok() && !reader.at_end()) {
      HostRoundTrip trip{rank, reader.get<std::uint32_t>(), 0};
      trip.round_trip_us = reader.get<std::uint64_t>();
      if (reader.ok() && trip.to_rank < static_cast<std::uint32_t>(size)) measured.push_back(trip);
    }
  }
  return measured;
}

GroupTable make_table(std::uint64_t id, std::vector<ProcessInfo> members, const std::vector<std::string>& sites) {
  GroupTable table;
  table.id = id;
  std::map<std::string, int> indexes;
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const int index = indexes.try_emplace(sites[rank], static_cast<int>(indexes.size())).first->second;
    table.members.push_back({std::move(members[rank]), sites[rank], index});
  }
  return table;
}

RendezvousRound round_of(const FormGroupRequest& request, std::string name) {
  return {request.store, request.rank, request.size, std::move(name), request.group_name, request.deadline};
}

}  // namespace

std::string GroupMemberInfo::name(int rank) const { return fmt::format("rank {} (site {})", rank, site); }

// Three rounds: who is there (so that each process knows for whom it must listen), where each listens, and that every
// connection stands. Control connections are a full mesh: a failure is then seen by everyone at first hand.
Result<GroupTable> form_group(const FormGroupRequest& request) {
  ProcessInfo self = request.self;
  ISTHMUS_ASSIGN_OR_RETURN(
      const std::string identities,
      run_round(round_of(request, "identity"), self.encode(), [&](const auto& records) -> Result<std::string> {
        ISTHMUS_ASSIGN_OR_RETURN(const std::vector<ProcessInfo> members, decode_members(records));
        ISTHMUS_RETURN_IF_ERROR(check_members(members).with_context(fmt::format("forming \"{}\"", request.group_name)));
        return encode_texts(draw_group_id(), records);
      }));
  ISTHMUS_ASSIGN_OR_RETURN(const NumberedTexts first, decode_texts(identities, request.size));
  ISTHMUS_ASSIGN_OR_RETURN(std::vector<ProcessInfo> members, decode_members(first.texts));
  ISTHMUS_ASSIGN_OR_RETURN(const bool given, sites_are_given(members));

  const Status bound = request.bind(bind_request(members, request.rank), &self);
  const Result<std::string> listening = bound.ok() ? Result<std::string>(self.encode()) : Result<std::string>(bound);
  ISTHMUS_ASSIGN_OR_RETURN(const std::string addresses,
                           run_round(round_of(request, "address"), listening, [](const auto& records) {
                             return Result<std::string>(encode_texts(0, records));
                           }));
  ISTHMUS_ASSIGN_OR_RETURN(const NumberedTexts second, decode_texts(addresses, request.size));
  ISTHMUS_ASSIGN_OR_RETURN(members, decode_members(second.texts));

  ISTHMUS_ASSIGN_OR_RETURN(
      const std::string named,
      run_round(
          round_of(request, "ready"), connect_and_measure(request, members, given),
          [&](const auto& records) -> Result<std::string> {
            std::vector<std::string> sites;
            for (const ProcessInfo& member : members) sites.push_back(member.site);
            if (!given) sites = detect_sites(members, decode_measured(records, request.size), request.site_rtt);
            ISTHMUS_RETURN_IF_ERROR(
                check_sites_secured(members, sites).with_context(fmt::format("forming \"{}\"", request.group_name)));
            return encode_texts(0, sites);
          }));
  ISTHMUS_ASSIGN_OR_RETURN(const NumberedTexts sites, decode_texts(named, request.size));
  return make_table(first.number, std::move(members), sites.texts);
}

Status store_barrier(Store& store, int rank, int size, const std::string& name, const Status& mine,
                     TimePoint deadline) {
  const RendezvousRound round{&store, rank, size, "barrier/" + name, name, deadline};
  const Result<std::string> record = mine.ok() ? Result<std::string>(std::string()) : Result<std::string>(mine);
  return run_round(round, record, [](const auto&) { return Result<std::string>(std::string()); }).status();
}

}  // namespace isthmus
