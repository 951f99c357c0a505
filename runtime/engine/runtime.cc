#include "runtime/engine/runtime.h"

#include <unistd.h>

#include <algorithm>

#include "runtime/base/log.h"
#include "runtime/bootstrap/addresses.h"
#include "runtime/bootstrap/host_identity.h"
#include "runtime/bootstrap/sealed_store.h"
#include "runtime/config/option_access.h"
#include "runtime/config/port_range.h"
#include "runtime/control/control_networks.h"
#include "runtime/engine/group_message.h"
#include "runtime/transport/factory.h"

namespace isthmus {
namespace {

constexpr std::size_t kMaxEarlyAborts = 1024;
constexpr std::uint32_t kEpoch = 1;

LinkSetOptions link_set_options(const Options& options) {
  LinkSetOptions result;
  result.link.lane.max_segment_bytes = static_cast<std::size_t>(options.segment_bytes);
  result.link.lane.max_window_bytes = static_cast<std::uint64_t>(options.lane_window_bytes);
  result.link.eager.per_operation_bytes = static_cast<std::uint64_t>(options.eager_bytes);
  result.link.eager.total_bytes = 4 * result.link.eager.per_operation_bytes;
  if (options.wan_lanes > 0)
    result.link.first_lanes = result.link.most_lanes = std::max(1, static_cast<int>(options.wan_lanes) - 1);
  result.link.has_control_lane = options.wan_lanes != 1;
  result.reach_limit = std::chrono::milliseconds(options.link_grace_ms);
  result.epoch = kEpoch;
  return result;
}

// What must be equal on every rank: frames longer than a peer's buffers would end its lanes, and eager accounts that
// differ would look like a broken protocol. A group is refused when it differs.
std::string wire_profile(const std::string& transport, const Options& options) {
  return fmt::format("transport={} segment_bytes={} eager_bytes={} site_tier={}", transport, options.segment_bytes,
                     options.eager_bytes, options.site_tier);
}

Status explain_ports(const Status& why, const std::string& range) {
  if (range.empty()) return why;
  return why.with_context(
      fmt::format("port_range {}: every process of a host needs 2 ports of it (control and data)", range));
}

PeerMeshOptions mesh_options(const Options& options) {
  PeerMeshOptions result;
  result.heartbeat_interval = std::chrono::milliseconds(options.heartbeat_ms);
  result.suspect_after = std::chrono::milliseconds(options.suspect_ms);
  result.link_grace = std::chrono::milliseconds(options.link_grace_ms);
  return result;
}

}  // namespace

// ---------------------------------------------------------------------------------------------------- life

Result<std::unique_ptr<Runtime>> Runtime::create(const Options& options, RuntimeSeams seams) {
  ISTHMUS_RETURN_IF_ERROR(check_options(options));
  std::unique_ptr<Runtime> runtime(new Runtime(options));
  runtime->pid_ = ::getpid();
  runtime->clock_ = seams.clock != nullptr ? seams.clock : &SteadyClock::instance();
  if (!seams.transport) {
    ISTHMUS_ASSIGN_OR_RETURN(const TransportOptions wanted, transport_options(options));
    ISTHMUS_ASSIGN_OR_RETURN(seams.transport, make_transport(options.transport, wanted));
  }
  ISTHMUS_ASSIGN_OR_RETURN(runtime->security_, load_security(options));
  runtime->control_ = std::move(seams.control);
  if (!runtime->control_) {
    ISTHMUS_ASSIGN_OR_RETURN(runtime->control_, make_control_network(runtime->security_));
  }

  ProcessInfo& self = runtime->self_;
  self.process = make_process_id();
  self.site = options.site;
  self.security = runtime->security_.level;
  self.cipher = runtime->security_.cipher;
  self.pid = static_cast<std::uint32_t>(runtime->pid_);
  ISTHMUS_RETURN_IF_ERROR(fill_host_identity(&self));
  if (!seams.host_id.empty()) self.host_id = self.network_id = seams.host_id;
  ISTHMUS_ASSIGN_OR_RETURN(self.candidate_hosts, candidate_hosts(options));
  self.transport = wire_profile(seams.transport->capabilities().name, options);

  runtime->workers_ = std::make_unique<WorkerPool>(static_cast<int>(options.reduce_threads), "isthmus-reduce");
  runtime->completions_ = std::make_unique<CompletionThread>();
  ISTHMUS_ASSIGN_OR_RETURN(runtime->loop_, ProgressLoop::create(runtime->clock_));
  ISTHMUS_ASSIGN_OR_RETURN(
      runtime->mesh_, PeerMesh::create(mesh_options(options), runtime->control_.get(), self.process, runtime.get()));
  runtime->loop_->set_links(std::make_unique<LinkSet>(
      link_set_options(options), runtime->clock_, std::move(seams.transport), self.process, &runtime->counters_.wan,
      [mesh = runtime->mesh_.get()](ProcessId peer, int lanes, bool is_silent) {
        GroupMessage dial;
        dial.kind = is_silent ? GroupMessageKind::kProbe : GroupMessageKind::kDial;
        dial.group = static_cast<std::uint64_t>(lanes);
        mesh->send(peer, encode_group_message(dial));
      }));
  runtime->loop_->start();
  return runtime;
}

bool Runtime::is_forked() const { return ::getpid() != pid_; }

Status Runtime::check_process() const {
  if (!is_forked()) return Status();
  return unavailable("process {} was forked from process {}, which has the runtime: make one after fork()", ::getpid(),
                     pid_);
}

Runtime::~Runtime() {
  if (is_forked()) {  // the threads do not exist here, and what they own belongs to the parent
    new std::shared_ptr<ControlNetwork>(std::move(control_));
    (void)workers_.release();
    (void)completions_.release();
    (void)loop_.release();
    (void)mesh_.release();
    new std::unordered_map<std::string, std::shared_ptr<void>>(std::move(kept_));
    return;
  }
  if (mesh_ && loop_) {
    const Duration limit = std::chrono::milliseconds(options_.drain_ms);
    const TimePoint drained_by = deadline_after(SteadyClock::instance().now(), limit);
    bool drained = false;
    while (!drained && SteadyClock::instance().now() < drained_by) {
      loop_->call([&] { drained = loop_->links().drained(); });
      if (!drained) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    mesh_->goodbye(deadline_after(SteadyClock::instance().now(), limit));
  }
  if (loop_) loop_->stop();
  mesh_.reset();
  workers_.reset();
  completions_.reset();
  kept_.clear();
  loop_.reset();
}

std::shared_ptr<void> Runtime::keep(const std::string& name, const std::function<std::shared_ptr<void>()>& make) {
  std::lock_guard lock(kept_mutex_);
  std::shared_ptr<void>& slot = kept_[name];
  if (!slot) slot = make();
  return slot;
}

// ---------------------------------------------------------------------------------------------------- groups

std::unique_ptr<Store> Runtime::sealed_store(Store& store, const std::string& group_name) const {
  if (!security_.secret) return nullptr;
  return std::make_unique<SealedStore>(&store, *security_.secret, group_name);
}

Result<GroupTable> Runtime::form(Store& store, int rank, int size, const std::string& group_name, TimePoint deadline) {
  ISTHMUS_RETURN_IF_ERROR(check_process());
  std::lock_guard lock(form_mutex_);
  FormGroupRequest request;
  request.store = &store;
  request.rank = rank;
  request.size = size;
  request.group_name = group_name;
  request.self = self_;
  request.mesh = mesh_.get();
  request.site_rtt = std::chrono::microseconds(options_.site_rtt_us);
  request.deadline = deadline;
  request.bind = [this](const BindRequest& bind_request, ProcessInfo* self) { return bind(bind_request, self); };
  return form_group(request);
}

// Adds the listeners that this group needs and the process does not have yet; they are shared by all groups.
Status Runtime::bind(const BindRequest& request, ProcessInfo* self) {
  ISTHMUS_ASSIGN_OR_RETURN(const auto hosts, choose_bind_hosts(request, options_));
  ISTHMUS_ASSIGN_OR_RETURN(const PortRange ports, parse_port_range(options_.port_range));
  for (const std::string& host : hosts) {
    if (std::find(bound_hosts_.begin(), bound_hosts_.end(), host) != bound_hosts_.end()) continue;
    const std::string advertised = request.all_on_one_host ? "" : options_.advertise_address;
    Result<std::string> control = mesh_->listen(host, advertised, ports.low, ports.high);
    if (!control.ok()) return explain_ports(control.status(), options_.port_range);
    Result<std::string> data = internal_error("the progress thread has ended");
    loop_->call([&] { data = loop_->links().listen({host, advertised, ports.low, ports.high}); });
    if (!data.ok()) return explain_ports(data.status(), options_.port_range);
    bound_hosts_.push_back(host);
    self_.control_addresses.push_back(std::move(control).value());
    self_.data_addresses.push_back(std::move(data).value());
  }
  // A group with remote members is told only of addresses that they can reach.
  self->control_addresses.clear();
  self->data_addresses.clear();
  for (std::size_t i = 0; i < bound_hosts_.size(); ++i) {
    if (std::find(hosts.begin(), hosts.end(), bound_hosts_[i]) == hosts.end()) continue;
    self->control_addresses.push_back(self_.control_addresses[i]);
    self->data_addresses.push_back(self_.data_addresses[i]);
  }
  return Status();
}

// What crosses sites is sealed, and with security=on what stays in one, too. ChaCha20 where one end has no AES.
Result<std::optional<LinkKeys>> Runtime::link_keys(const GroupMemberInfo& self, const GroupMemberInfo& peer) {
  const bool crosses = self.site_index != peer.site_index;
  const bool is_sealed =
      security_.level == SecurityLevel::kFull || (security_.level == SecurityLevel::kSecured && crosses);
  if (!is_sealed) return std::optional<LinkKeys>();
  LinkKeys keys;
  const bool both_aes = self.info.cipher == CipherKind::kAes256Gcm && peer.info.cipher == CipherKind::kAes256Gcm;
  keys.kind = both_aes ? CipherKind::kAes256Gcm : CipherKind::kChaCha20Poly1305;
  ISTHMUS_ASSIGN_OR_RETURN(keys.secret, mesh_->link_secret(peer.info.process));
  return std::optional<LinkKeys>(keys);
}

Status Runtime::add_group(const GroupTable& table, int rank, GroupConfig config,
                          std::function<void(const Status&)> on_broken) {
  std::vector<std::optional<LinkKeys>> keys(config.members.size());
  for (std::size_t r = 0; r < keys.size(); ++r) {
    if (config.members[r].channel != nullptr || static_cast<int>(r) == rank) continue;
    Result<std::optional<LinkKeys>> known = link_keys(table.members[static_cast<std::size_t>(rank)], table.members[r]);
    if (!known.ok()) return known.status().with_context(config.members[r].name);
    keys[r] = *known;
  }
  loop_->call([&] {
    for (std::size_t r = 0; r < config.members.size(); ++r) {
      GroupMember& member = config.members[r];
      if (member.channel != nullptr || static_cast<int>(r) == rank) continue;
      member.channel = loop_->links().get({member.process, member.name, table.members[r].info.data_addresses, keys[r]});
    }
    const std::uint64_t id = config.id;
    const std::string own_name = config.members[static_cast<std::size_t>(rank)].name;
    auto tell_others = [this, id, own_name](const Status& why) {
      GroupMessage message;
      message.kind = GroupMessageKind::kAbort;
      message.group = id;
      message.process = self_.process;
      message.status = why.with_context(fmt::format("reported by {}", own_name));
      mesh_->broadcast(encode_group_message(message));
    };
    auto group = std::make_unique<Group>(
        std::move(config), clock_, workers_.get(), [this](std::function<void()> fn) { loop_->post(std::move(fn)); },
        std::move(tell_others), std::move(on_broken), &counters_.operations_completed, &counters_.operations_failed);
    Group& added = *(loop_->groups()[id] = std::move(group));
    if (const auto early = early_aborts_.find(id); early != early_aborts_.end()) {
      added.break_with(early->second, false);
      early_aborts_.erase(early);
    }
    for (const GroupMember& member : added.config().members) {
      if (const auto dead = dead_.find(member.process); dead != dead_.end())
        added.member_dead(member.process, dead->second);
      if (gone_.contains(member.process)) added.member_left(member.process);
    }
  });
  return Status();
}

void Runtime::submit(std::uint64_t group, OperationRequest request) {
  auto shared = std::make_shared<OperationRequest>(std::move(request));
  loop_->post([this, group, shared] {
    const auto found = loop_->groups().find(group);
    if (found == loop_->groups().end())
      return shared->on_done(aborted("{}: the communicator is destroyed", shared->what));
    found->second->submit(std::move(*shared));
  });
}

void Runtime::break_group(std::uint64_t group, const Status& why) {
  loop_->post([this, group, why] {
    const auto found = loop_->groups().find(group);
    if (found != loop_->groups().end()) found->second->break_with(why, true);
  });
}

void Runtime::remove_group(std::uint64_t id, TimePoint deadline) {
  bool finished = false;
  while (!finished) {
    const bool is_late = clock_->now() >= deadline;
    loop_->call([&] {
      const auto found = loop_->groups().find(id);
      if (found == loop_->groups().end()) {
        finished = true;
        return;
      }
      Group& group = *found->second;
      group.abandon(aborted("communicator \"{}\" was destroyed on this rank", group.config().name));
      group.tick(clock_->now());
      if (!group.idle() || (!group.drained() && !is_late)) return;
      finished = true;
      GroupMessage message;
      message.kind = GroupMessageKind::kLeave;
      message.group = id;
      message.process = self_.process;
      mesh_->broadcast(encode_group_message(message));
      group.forget();
      loop_->groups().erase(found);
    });
    if (!finished) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::vector<LinkReport> Runtime::link_report() {
  std::vector<LinkReport> links;
  loop_->call([&] { links = loop_->links().report(); });
  return links;
}

// ---------------------------------------------------------------------------------------------------- the mesh speaks

void Runtime::on_message(ProcessId from, std::string_view text) {
  const Result<GroupMessage> message = decode_group_message(text);
  if (!message.ok()) {
    log_warning("a control message was dropped: {}", message.status().to_string());
    return;
  }
  loop_->post([this, from, message = *message] { on_group_message(from, message); });
}

void Runtime::on_group_message(ProcessId from, const GroupMessage& message) {
  if (message.kind == GroupMessageKind::kDial || message.kind == GroupMessageKind::kProbe)
    return loop_->links().dial(from, static_cast<int>(std::min<std::uint64_t>(message.group, 1024)),
                               message.kind == GroupMessageKind::kProbe);
  const auto found = loop_->groups().find(message.group);
  if (message.kind == GroupMessageKind::kLeave) {
    if (found != loop_->groups().end()) found->second->member_left(message.process);
    return;
  }
  if (found != loop_->groups().end()) return found->second->break_with(message.status, false);
  if (early_aborts_.size() < kMaxEarlyAborts) early_aborts_.emplace(message.group, message.status);
}

void Runtime::on_peer_dead(ProcessId peer, const Status& why) {
  loop_->post([this, peer, why] {
    dead_.emplace(peer, why);
    loop_->links().fail(peer, why);
    for (auto& [id, group] : loop_->groups()) group->member_dead(peer, why);
  });
}

void Runtime::on_peer_suspect(ProcessId, const std::string& name, Duration silent) {
  log_warning("nothing heard from {} for {:.1f} s; its groups wait until {:.1f} s", name, to_seconds(silent),
              static_cast<double>(options_.link_grace_ms) / 1000);
}

void Runtime::on_path_silent(ProcessId peer, bool silent) {
  loop_->post([this, peer, silent] { loop_->links().suspect(peer, silent); });
}

void Runtime::on_goodbye(ProcessId peer) {
  loop_->post([this, peer] {
    gone_.insert(peer);
    loop_->links().retire(peer);
    for (auto& [id, group] : loop_->groups()) group->member_left(peer);
  });
}

}  // namespace isthmus
