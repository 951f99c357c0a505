#include "collectives/communicator.h"

#include <algorithm>

#include "collectives/derive_id.h"
#include "collectives/joint_completion.h"
#include "collectives/local/site_tier.h"
#include "collectives/network_agreement.h"
#include "collectives/schedule/point_to_point.h"
#include "collectives/schedule/premultiply.h"

namespace isthmus {
namespace {

std::vector<int> site_indexes(const GroupTable& table) {
  std::vector<int> indexes;
  for (const GroupMemberInfo& member : table.members) indexes.push_back(member.site_index);
  return indexes;
}

bool is_on_one_network(const GroupTable& table) {
  return std::ranges::all_of(table.members, [&](const GroupMemberInfo& member) {
    return member.info.network_id == table.members[0].info.network_id;
  });
}

}  // namespace

Communicator::Communicator(Runtime* runtime, GroupTable table, int rank, CommunicatorOptions options)
    : runtime_(runtime),
      table_(std::move(table)),
      sites_(site_indexes(table_)),
      rank_(rank),
      options_(std::move(options)) {}

Result<std::unique_ptr<Communicator>> Communicator::create(Runtime* runtime, Store& store, int rank, int size,
                                                           const CommunicatorOptions& options) {
  ISTHMUS_RETURN_IF_ERROR(runtime->check_process());
  if (size < 1 || rank < 0 || rank >= size)
    return invalid_argument("communicator \"{}\": rank {} of {} ranks", options.name, rank, size);
  if (size > kMaxRanks)
    return invalid_argument("communicator \"{}\": {} ranks, {} are the most", options.name, size, kMaxRanks);
  CommunicatorOptions resolved = options;
  if (resolved.timeout <= Duration::zero()) resolved.timeout = std::chrono::milliseconds(runtime->options().timeout_ms);
  if (resolved.connect_timeout <= Duration::zero())
    resolved.connect_timeout = std::chrono::milliseconds(runtime->options().connect_timeout_ms);
  const TimePoint deadline = deadline_after(SteadyClock::instance().now(), resolved.connect_timeout);
  const std::unique_ptr<Store> sealed = runtime->sealed_store(store, resolved.name);
  Store& trusted = sealed ? *sealed : store;
  ISTHMUS_ASSIGN_OR_RETURN(GroupTable table, runtime->form(trusted, rank, size, resolved.name, deadline));
  ISTHMUS_RETURN_IF_ERROR(connect_site_tier(*runtime, trusted, table, rank, deadline));
  ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<Communicator> communicator, join(runtime, std::move(table), rank, resolved));
  ISTHMUS_RETURN_IF_ERROR(communicator->plan().with_context(fmt::format("planning \"{}\"", resolved.name)));
  return communicator;
}

// One or two sites exchange, whatever the lines are, and processes that meet on one host have none between them.
Status Communicator::plan() {
  const bool is_file_given = !runtime_->options().sites_file.empty();
  if (sites_.site_count() < 3 || (is_on_one_network(table_) && !is_file_given)) return Status();
  ISTHMUS_ASSIGN_OR_RETURN(Network network, agree_on_network(*this));
  planner_ = std::make_shared<const Planner>(std::move(network));
  ++plan_version_;
  return Status();
}

Result<std::unique_ptr<Communicator>> Communicator::join(Runtime* runtime, GroupTable table, int rank,
                                                         const CommunicatorOptions& options) {
  std::unique_ptr<Communicator> communicator(new Communicator(runtime, std::move(table), rank, options));
  communicator->planner_ = std::make_shared<const Planner>(assumed_network(*communicator));
  const GroupTable& members = communicator->table_;
  GroupConfig config;
  config.id = members.id;
  config.name = options.name;
  for (int r = 0; r < static_cast<int>(members.members.size()); ++r) {
    const GroupMemberInfo& member = members.members[static_cast<std::size_t>(r)];
    config.members.push_back({member.info.process, member.name(r), nullptr});
  }
  use_site_tier(*runtime, members, rank, &config);
  ISTHMUS_RETURN_IF_ERROR(
      runtime->add_group(members, rank, std::move(config), [state = communicator->state_](const Status& why) {
        std::lock_guard lock(state->mutex);
        state->status = why;
      }));
  return communicator;
}

Communicator::~Communicator() {
  if (runtime_->is_forked()) return;
  runtime_->remove_group(
      table_.id, deadline_after(runtime_->clock().now(), std::chrono::milliseconds(runtime_->options().drain_ms)));
}

Status Communicator::status() const {
  ISTHMUS_RETURN_IF_ERROR(runtime_->check_process());
  std::lock_guard lock(state_->mutex);
  return state_->status;
}

Status Communicator::abort(const std::string& reason) {
  ISTHMUS_RETURN_IF_ERROR(runtime_->check_process());
  const Status why = aborted("communicator \"{}\" was aborted by {}: {}", options_.name, own_name(), reason);
  {
    std::lock_guard lock(state_->mutex);  // calls from now on fail at once
    if (state_->status.ok()) state_->status = why;
  }
  runtime_->break_group(table_.id, why);
  return Status();
}

// Every rank tells every other its color and key; the rest is arithmetic, and the channels stand already.
Result<std::unique_ptr<Communicator>> Communicator::split(int color, int key, const CommunicatorOptions& options) {
  const std::int64_t mine[2] = {color, key};
  std::vector<std::int64_t> all(2 * static_cast<std::size_t>(size()));
  std::uint64_t split_number;
  {
    std::lock_guard lock(order_mutex_);
    split_number = next_split_++;
  }
  ISTHMUS_ASSIGN_OR_RETURN(const std::shared_ptr<Work> work,
                           all_gather(mine, all.data(), 2, DataType::kInt64, CallOptions()));
  ISTHMUS_RETURN_IF_ERROR(work->wait(Duration(-1)));
  if (color < 0) return std::unique_ptr<Communicator>();

  std::vector<int> ranks;
  for (int r = 0; r < size(); ++r)
    if (all[2 * static_cast<std::size_t>(r)] == color) ranks.push_back(r);
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    return all[2 * static_cast<std::size_t>(a) + 1] < all[2 * static_cast<std::size_t>(b) + 1];
  });
  return join_members(ranks, derive_id(table_.id, split_number, static_cast<std::uint64_t>(color)), options);
}

Result<std::unique_ptr<Communicator>> Communicator::join_members(std::span<const int> ranks, std::uint64_t id,
                                                                 const CommunicatorOptions& options) {
  GroupTable table;
  table.id = id;
  table.epoch = table_.epoch;
  for (const int r : ranks) table.members.push_back(table_.members[static_cast<std::size_t>(r)]);
  const int new_rank = static_cast<int>(std::find(ranks.begin(), ranks.end(), rank_) - ranks.begin());
  CommunicatorOptions resolved = options;
  if (resolved.timeout <= Duration::zero()) resolved.timeout = options_.timeout;
  ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<Communicator> part, join(runtime_, std::move(table), new_rank, resolved));
  part->plan_as_part_of(*this, ranks);
  return part;
}

// Some sites of the parent, with those of their ranks that are in this one.
void Communicator::plan_as_part_of(const Communicator& parent, std::span<const int> parent_ranks) {
  std::vector<int> parent_sites;
  for (int site = 0; site < sites_.site_count(); ++site) {
    const int first = sites_.ranks_of(site)[0];
    parent_sites.push_back(parent.sites_.site_of(parent_ranks[static_cast<std::size_t>(first)]));
  }
  Network network = select_sites(parent.planner_->network(), parent_sites);
  for (int site = 0; site < sites_.site_count(); ++site)
    network.sites[static_cast<std::size_t>(site)].rank_count = sites_.local_size(site);
  planner_ = std::make_shared<const Planner>(std::move(network));
  plan_version_ = parent.plan_version_;
}

// ---------------------------------------------------------------------------------------------------- submission

Status Communicator::check_call(std::string_view operation, std::size_t count, DataType type,
                                std::size_t blocks) const {
  ISTHMUS_RETURN_IF_ERROR(status().with_context(fmt::format("{} on {}", operation, own_name())));
  const std::size_t limit = SIZE_MAX / 2 / dtype_size_bytes(type) / std::max<std::size_t>(1, blocks);
  if (count > limit)
    return invalid_argument("{}: count {} is more than a buffer can hold ({})", operation, count, limit);
  return Status();
}

Status Communicator::check_counts(std::string_view operation, const Counts& counts, DataType type) const {
  ISTHMUS_RETURN_IF_ERROR(check_call(operation, 0, type, 1));
  return check_block_counts(operation, counts, size(), type);
}

// Equal blocks: their count. Others: all counts, as far as they have room, and a digest of them.
void Communicator::describe_blocks(const Counts& counts, DataType type, Descriptor* descriptor) const {
  descriptor->type = type;
  descriptor->chunk_bytes = chunk_bytes();
  if (counts.is_equal)
    descriptor->count = counts.of_rank.front();
  else
    descriptor->set_counts(counts.of_rank);
}

OperationKey Communicator::next_key(const Launch& launch) {
  OperationKey key;
  key.communicator = table_.id;
  if (!launch.is_message) {
    key.sequence = next_sequence_++;
    return key;
  }
  key.sequence = ++next_message_[{launch.sender, launch.receiver, launch.tag}];
  key.tag = launch.tag + 1;
  if (launch.sender != kAnySource)
    key.pair =
        point_to_point_pair(static_cast<std::uint32_t>(launch.sender), static_cast<std::uint32_t>(launch.receiver));
  return key;
}

std::string Communicator::describe(const Launch& launch, const OperationKey& key) const {
  if (!launch.is_message)
    return fmt::format("{} #{} of \"{}\" on {}", launch.words, key.sequence, options_.name, own_name());
  const int peer = launch.sender == rank_ ? launch.receiver : launch.sender;
  const std::string who = peer == kAnySource ? "any rank" : table_.members[static_cast<std::size_t>(peer)].name(peer);
  return fmt::format("{} #{} (tag {}) of \"{}\" on {} with {}", launch.words, key.sequence, launch.tag, options_.name,
                     own_name(), who);
}

std::shared_ptr<Work> Communicator::make_work(std::uint64_t sequence, const std::string& what) {
  return std::make_shared<Work>(sequence, what, &runtime_->completions(), [runtime = runtime_, id = table_.id, what] {
    runtime->break_group(id, aborted("{} was given up", what));
  });
}

// The engine gives a receive its message, in the order of the calls.
void Communicator::add_matching(const Launch& launch, const std::shared_ptr<Work>& work,
                                OperationRequest* request) const {
  request->is_receive = launch.is_message && launch.receiver == rank_;
  if (!request->is_receive) return;
  if (launch.sender != kAnySource) {
    request->receives_from = static_cast<std::uint32_t>(launch.sender);
    work->set_source(launch.sender);
    return;
  }
  const std::size_t bytes = launch.descriptor.count * dtype_size_bytes(launch.descriptor.type);
  request->on_matched = [work, bytes](std::uint32_t sender) {
    work->set_source(static_cast<int>(sender));
    return std::make_shared<const Schedule>(build_receive(static_cast<int>(sender), bytes));
  };
}

void Communicator::submit(const Launch& launch, const OperationKey& key, std::optional<OperationKey> starts_after,
                          std::string what, const CallOptions& options, const std::shared_ptr<Work>& work,
                          std::function<void(const Status&)> on_done) {
  OperationRequest request;
  request.key = key;
  request.starts_after = starts_after;
  request.what = std::move(what);
  request.descriptor = launch.descriptor.encode();
  request.schedule = launch.schedule;
  request.input = launch.input;
  request.output = launch.output;
  request.element_bytes = dtype_size_bytes(launch.descriptor.type);
  request.priority = options.priority;
  add_matching(launch, work, &request);
  request.factor = options.premul_factor.value_or(1);
  request.timeout = options.timeout > Duration::zero() ? options.timeout : options_.timeout;
  request.on_done = [unpack = launch.unpack, on_done = std::move(on_done)](const Status& status) {
    if (unpack && status.ok()) unpack();
    on_done(status);
  };
  request.describe = [mine = launch.descriptor](std::string_view bytes) {
    const Result<Descriptor> theirs = Descriptor::decode(bytes);
    return fmt::format("calls {}, this rank {}", theirs.ok() ? (*theirs).words() : theirs.status().message(),
                       mine.words());
  };
  runtime_->submit(table_.id, std::move(request));
}

// A factor that is missing, or would not be used, is refused: no sum is ever taken unscaled in silence.
Status Communicator::apply_factor(Launch* launch, const CallOptions& options) {
  const bool scales = launch->descriptor.op == ReduceOp::kPremulSum;
  if (scales && !options.premul_factor)
    return invalid_argument("{}: premul_sum needs premul_factor, this rank's own", launch->words);
  if (!scales && options.premul_factor)
    return invalid_argument("{}: premul_factor goes with premul_sum, not with {}", launch->words,
                            reduce_op_name(launch->descriptor.op));
  if (!scales) return Status();
  const bool is_allreduce = launch->descriptor.kind == OperationKind::kAllreduce;
  launch->schedule = std::make_shared<Schedule>(
      premultiply(*launch->schedule, is_allreduce ? Products::kInOutput : Products::kInScratch));
  return Status();
}

Communicator::WorkResult Communicator::launch(Result<Launch> prepared, const CallOptions& options) {
  ISTHMUS_ASSIGN_OR_RETURN(Launch launch, std::move(prepared));
  ISTHMUS_RETURN_IF_ERROR(apply_factor(&launch, options));
  std::lock_guard lock(order_mutex_);
  const OperationKey key = next_key(launch);
  std::string what = describe(launch, key);
  std::shared_ptr<Work> work = make_work(key.sequence, what);
  submit(launch, key, std::nullopt, std::move(what), options, work,
         [work](const Status& status) { work->finish(status); });
  return work;
}

Communicator::WorkResult Communicator::launch_together(const std::string& words, Launches launches,
                                                       const CallOptions& options) {
  for (Launch& launch : launches) ISTHMUS_RETURN_IF_ERROR(apply_factor(&launch, options));
  std::lock_guard lock(order_mutex_);
  std::vector<OperationKey> keys;
  for (const Launch& launch : launches) keys.push_back(next_key(launch));
  const std::uint64_t sequence = keys.empty() ? 0 : keys.front().sequence;
  std::shared_ptr<Work> work = make_work(sequence, fmt::format("{} of \"{}\" on {}", words, options_.name, own_name()));
  const auto joint = JointCompletion::create(launches.size(), [work](const Status& status) { work->finish(status); });
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const std::size_t back = launches[i].starts_after;
    submit(launches[i], keys[i], back == 0 ? std::nullopt : std::optional(keys[i - back]),
           describe(launches[i], keys[i]), options, work, [joint](const Status& status) { joint->part_ended(status); });
  }
  return work;
}

}  // namespace isthmus
