#include "collectives/local/site_tier.h"

#include "collectives/local/shm/shm_site.h"

namespace isthmus {
namespace {

constexpr const char* kShmSlot = "site tier: shared memory";

bool shares_memory(const GroupMemberInfo& a, const GroupMemberInfo& b) {
  return a.site_index == b.site_index && a.info.host_id == b.info.host_id;
}

bool any_mates(const GroupTable& table) {
  for (std::size_t a = 0; a < table.members.size(); ++a)
    for (std::size_t b = a + 1; b < table.members.size(); ++b)
      if (shares_memory(table.members[a], table.members[b])) return true;
  return false;
}

Status check_forced_shm(const GroupTable& table) {
  for (std::size_t a = 0; a < table.members.size(); ++a)
    for (std::size_t b = a + 1; b < table.members.size(); ++b)
      if (table.members[a].site_index == table.members[b].site_index &&
          !shares_memory(table.members[a], table.members[b]))
        return unsupported("site_tier=shm: {} and {} are on different hosts ({} and {})",
                           table.members[a].name(static_cast<int>(a)), table.members[b].name(static_cast<int>(b)),
                           table.members[a].info.host_name, table.members[b].info.host_name);
  return Status();
}

std::vector<ShmMateInfo> mates_of(const GroupTable& table, int rank) {
  std::vector<ShmMateInfo> mates;
  const GroupMemberInfo& self = table.members[static_cast<std::size_t>(rank)];
  for (int r = 0; r < static_cast<int>(table.members.size()); ++r) {
    const GroupMemberInfo& other = table.members[static_cast<std::size_t>(r)];
    if (r != rank && shares_memory(self, other)) mates.push_back({other.info.process, other.info.pid, other.name(r)});
  }
  return mates;
}

// Keeps the shared memory of the process, and takes it off the progress thread when the runtime ends.
struct ShmSlot {
  std::shared_ptr<ShmSite> site;
  Status status;
};

std::shared_ptr<ShmSlot> shm_slot(Runtime& runtime) {
  return std::static_pointer_cast<ShmSlot>(runtime.keep(kShmSlot, [&]() -> std::shared_ptr<void> {
    auto slot = std::make_shared<ShmSlot>();
    EagerLimits limits;
    limits.per_operation_bytes = static_cast<std::uint64_t>(runtime.options().eager_bytes);
    limits.total_bytes = 16 * limits.per_operation_bytes;
    auto site = ShmSite::create(runtime.process(), limits, &runtime.counters().site);
    slot->status = site.status();
    if (site.ok()) {
      slot->site = std::move(site).value();
      runtime.loop().call([&] { runtime.loop().add_source(slot->site.get()); });
    }
    return slot;
  }));
}

}  // namespace

Status connect_site_tier(Runtime& runtime, Store& store, const GroupTable& table, int rank, TimePoint deadline) {
  const std::string& choice = runtime.options().site_tier;
  if (choice == "shm") ISTHMUS_RETURN_IF_ERROR(check_forced_shm(table));
  if (choice == "link" || !any_mates(table)) return Status();
  const std::vector<ShmMateInfo> mates = mates_of(table, rank);
  const int size = static_cast<int>(table.members.size());
  Status status;
  std::shared_ptr<ShmSlot> slot;
  if (!mates.empty()) {
    slot = shm_slot(runtime);
    status = slot->status;
    if (status.ok()) runtime.loop().call([&] { status = slot->site->prepare(mates); });
  }
  // Everyone meets here, also who failed or has no mates: the others must not wait in vain. And once more, because a
  // mate that has formed the group may end, and take its directory with it, before the others have opened their end.
  status = status.with_context("site_tier=shm (site_tier=link does without)");
  ISTHMUS_RETURN_IF_ERROR(store_barrier(store, rank, size, "site-tier-made", status, deadline));
  if (!mates.empty()) runtime.loop().call([&] { status = slot->site->attach(mates); });
  status = status.with_context("site_tier=shm (site_tier=link does without)");
  return store_barrier(store, rank, size, "site-tier-open", status, deadline);
}

void use_site_tier(Runtime& runtime, const GroupTable& table, int rank, GroupConfig* config) {
  if (runtime.options().site_tier == "link") return;
  const std::vector<ShmMateInfo> mates = mates_of(table, rank);
  if (mates.empty()) return;
  const std::shared_ptr<ShmSlot> slot = shm_slot(runtime);
  for (GroupMember& member : config->members)
    if (member.process != runtime.process()) member.channel = slot->site->channel(member.process);
}

}  // namespace isthmus
