// Communicator: the collectives of a group of ranks, hierarchical over its sites. A communicator may be made from a
// store or split off another one.
//
// Threads: any thread. Operations are ordered by the order of their calls, which must be the same on every rank;
// several may be in flight and complete in any order.
//
// Errors: a call that is refused by its arguments returns an error and leaves the communicator usable. An operation
// that fails later reports it through its Work and breaks the communicator on every rank.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collectives/call_checks.h"
#include "collectives/descriptor.h"
#include "collectives/plan/planner.h"
#include "collectives/site_map.h"
#include "collectives/work.h"
#include "runtime/base/dtype.h"
#include "runtime/bootstrap/group.h"
#include "runtime/engine/runtime.h"

namespace isthmus {

struct CommunicatorOptions {
  std::string name = "world";
  Duration timeout{};          // 0: the runtime's option
  Duration connect_timeout{};  // 0: the runtime's option
};

struct CallOptions {
  Duration timeout{};     // 0: the communicator's
  std::uint32_t tag = 0;  // send, receive
  int priority = 0;       // a hint: of several operations that may send, those of higher priority go first
  // kPremulSum, and only there: what this rank's input is multiplied by. Each rank has its own.
  std::optional<double> premul_factor = std::nullopt;
};

// Tags below this are the caller's.
inline constexpr std::uint32_t kFirstReservedTag = 0xffff'fff0u;
inline constexpr int kAnySource = -1;

// One send or receive of a batch.
struct Message {
  bool is_send = false;
  void* buffer = nullptr;  // a send only reads it
  std::size_t count = 0;
  DataType type = DataType::kUInt8;
  int peer = 0;
  std::uint32_t tag = 0;
};

// One buffer of a coalesced call, as the call of one buffer has it.
struct BufferPair {
  const void* send = nullptr;
  void* recv = nullptr;
  std::size_t count = 0;
  DataType type = DataType::kFloat32;
};

class Communicator {
 public:
  static constexpr int kMaxRanks = 1'000'000;

  // Collective over the processes that share the store, whose keys must be fresh. Blocks.
  static Result<std::unique_ptr<Communicator>> create(Runtime* runtime, Store& store, int rank, int size,
                                                      const CommunicatorOptions& options);
  // Collective over this communicator. A negative color: nullptr. Blocks.
  Result<std::unique_ptr<Communicator>> split(int color, int key, const CommunicatorOptions& options);
  // Collective over the members alone: `ranks` of this communicator, each once and this one among them; the same list
  // in the same order on each. Rank i of the new communicator is ranks[i]. Blocks.
  Result<std::unique_ptr<Communicator>> subset(std::span<const int> ranks, const CommunicatorOptions& options);

  ~Communicator();  // not collective; see isthmus_communicator_destroy

  int rank() const { return rank_; }
  int size() const { return sites_.size(); }
  const SiteMap& sites() const { return sites_; }
  const std::string& site_name(int rank) const { return table_.members[static_cast<std::size_t>(rank)].site; }
  const std::string& name() const { return options_.name; }
  const Planner& planner() const { return *planner_; }  // of the allreduces to come
  Runtime& runtime() const { return *runtime_; }

  Status status() const;                    // why it is not usable; ok while it is
  Status abort(const std::string& reason);  // fails in a forked child

  using WorkResult = Result<std::shared_ptr<Work>>;
  WorkResult allreduce(const void* send, void* recv, std::size_t count, DataType type, ReduceOp op,
                       const CallOptions& options);
  WorkResult reduce(const void* send, void* recv, std::size_t count, DataType type, ReduceOp op, int root,
                    const CallOptions& options);
  WorkResult reduce_scatter(const void* send, void* recv, std::size_t count, DataType type, ReduceOp op,
                            const CallOptions& options);
  WorkResult reduce_scatter_v(const void* send, void* recv, std::span<const std::size_t> counts, DataType type,
                              ReduceOp op, const CallOptions& options);

  WorkResult broadcast(void* buffer, std::size_t count, DataType type, int root, const CallOptions& options);
  WorkResult all_gather(const void* send, void* recv, std::size_t count, DataType type, const CallOptions& options);
  WorkResult all_gather_v(const void* send, void* recv, std::span<const std::size_t> counts, DataType type,
                          const CallOptions& options);
  WorkResult gather(const void* send, void* recv, std::size_t count, DataType type, int root,
                    const CallOptions& options);
  WorkResult gather_v(const void* send, void* recv, std::span<const std::size_t> counts, DataType type, int root,
                      const CallOptions& options);
  WorkResult scatter(const void* send, void* recv, std::size_t count, DataType type, int root,
                     const CallOptions& options);
  WorkResult scatter_v(const void* send, void* recv, std::span<const std::size_t> counts, DataType type, int root,
                       const CallOptions& options);
  WorkResult all_to_all(const void* send, void* recv, std::size_t count, DataType type, const CallOptions& options);
  WorkResult all_to_all_v(const void* send, std::span<const std::size_t> send_counts, void* recv,
                          std::span<const std::size_t> recv_counts, DataType type, const CallOptions& options);
  WorkResult barrier(const CallOptions& options);
  // For measuring: the work ends at the side that starts when the answer of the other has come.
  WorkResult ping(int peer, bool starts);

  WorkResult send(const void* buffer, std::size_t count, DataType type, int destination, const CallOptions& options);
  // From kAnySource: the earliest message of the tag that has arrived; Work::source() tells whose.
  WorkResult receive(void* buffer, std::size_t count, DataType type, int source, const CallOptions& options);
  // All of them or, when one is refused, none; one work for all.
  WorkResult batch(std::span<const Message> messages, const CallOptions& options);

  // One work for all buffers. Small ones of one type travel together, so they need not each pay a message.
  WorkResult allreduce_coalesced(std::span<const BufferPair> buffers, ReduceOp op, const CallOptions& options);
  WorkResult all_gather_coalesced(std::span<const BufferPair> buffers, const CallOptions& options);
  WorkResult reduce_scatter_coalesced(std::span<const BufferPair> buffers, ReduceOp op, const CallOptions& options);

 private:
  // A call whose arguments are in order.
  struct Launch {
    Descriptor descriptor;
    std::string words;  // "allreduce"
    std::shared_ptr<const Schedule> schedule;
    const void* input = nullptr;
    void* output = nullptr;
    bool is_message = false;
    int sender = -1, receiver = -1;  // of a message; the sender may be kAnySource
    std::uint32_t tag = 0;
    std::function<void()> unpack;  // run when it has ended well, before its work is told; owns what it needs
    std::size_t starts_after = 0;  // n: the n-th launch before it in the same call must have ended; 0: at once
  };
  using Launches = std::vector<Launch>;
  struct SharedState {  // outlives the communicator: the engine reports into it
    std::mutex mutex;
    Status status;
  };

  Communicator(Runtime* runtime, GroupTable table, int rank, CommunicatorOptions options);

  static Result<std::unique_ptr<Communicator>> join(Runtime* runtime, GroupTable table, int rank,
                                                    const CommunicatorOptions& options);
  Result<Launches> prepare_allreduce(const void* send, void* recv, std::size_t count, DataType type, ReduceOp op) const;
  Result<Launch> plan_allreduce(std::size_t count, DataType type, ReduceOp op) const;
  Result<Launch> prepare_reduce_scatter(const void* send, void* recv, const Counts& counts, DataType type,
                                        ReduceOp op) const;
  Result<Launch> prepare_all_gather(const void* send, void* recv, const Counts& counts, DataType type) const;
  Result<Launch> prepare_message(const Message& message) const;
  WorkResult rooted(bool is_gather, const void* send, void* recv, const Counts& counts, DataType type, int root,
                    const CallOptions& options);

  // Small buffers of one type are packed; `prepare` makes the launch of one buffer or pack.
  enum class Packing { kWhole, kGatheredBlocks, kScatteredBlocks };
  using PrepareBuffer = std::function<Result<Launches>(const BufferPair&)>;
  WorkResult coalesced(const char* words, std::span<const BufferPair> buffers, Packing packing,
                       const PrepareBuffer& prepare, const CallOptions& options);

  static Status apply_factor(Launch* launch, const CallOptions& options);
  WorkResult launch(Result<Launch> prepared, const CallOptions& options);
  WorkResult launch_together(const std::string& words, Launches launches, const CallOptions& options);
  OperationKey next_key(const Launch& launch);
  std::string describe(const Launch& launch, const OperationKey& key) const;
  std::shared_ptr<Work> make_work(std::uint64_t sequence, const std::string& what);
  void submit(const Launch& launch, const OperationKey& key, std::optional<OperationKey> starts_after, std::string what,
              const CallOptions& options, const std::shared_ptr<Work>& work,
              std::function<void(const Status&)> on_done);
  void add_matching(const Launch& launch, const std::shared_ptr<Work>& work, OperationRequest* request) const;
  Status agree_on_subset(std::span<const int> ranks, const CallOptions& options);
  Result<std::unique_ptr<Communicator>> join_members(std::span<const int> ranks, std::uint64_t id,
                                                     const CommunicatorOptions& options);
  Status plan();
  void plan_as_part_of(const Communicator& parent, std::span<const int> parent_ranks);
  Status check_call(std::string_view operation, std::size_t count, DataType type, std::size_t blocks) const;
  Status check_counts(std::string_view operation, const Counts& counts, DataType type) const;
  void describe_blocks(const Counts& counts, DataType type, Descriptor* descriptor) const;
  std::size_t chunk_bytes() const { return static_cast<std::size_t>(runtime_->options().chunk_bytes); }
  std::string own_name() const { return table_.members[static_cast<std::size_t>(rank_)].name(rank_); }

  Runtime* const runtime_;
  const GroupTable table_;
  const SiteMap sites_;
  const int rank_;
  const CommunicatorOptions options_;
  const std::shared_ptr<SharedState> state_ = std::make_shared<SharedState>();

  std::shared_ptr<const Planner> planner_;
  std::uint32_t plan_version_ = 0;  // goes with every operation that was planned

  std::mutex order_mutex_;  // numbers and submits as one step
  std::uint64_t next_sequence_ = 1;
  std::uint64_t next_split_ = 1;
  std::map<std::vector<int>, std::uint64_t> next_subset_;                      // by members
  std::map<std::tuple<int, int, std::uint32_t>, std::uint64_t> next_message_;  // by sender, receiver, tag
};

}  // namespace isthmus
