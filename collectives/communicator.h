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
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "collectives/descriptor.h"
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
};

class Communicator {
 public:
  // Collective over the processes that share the store, whose keys must be fresh. Blocks.
  static Result<std::unique_ptr<Communicator>> create(Runtime* runtime, Store& store, int rank, int size,
                                                      const CommunicatorOptions& options);
  // Collective over this communicator. A negative color: nullptr. Blocks.
  Result<std::unique_ptr<Communicator>> split(int color, int key, const CommunicatorOptions& options);

  ~Communicator();  // not collective; see isthmus_communicator_destroy

  int rank() const { return rank_; }
  int size() const { return sites_.size(); }
  const SiteMap& sites() const { return sites_; }
  const std::string& site_name(int rank) const { return table_.members[static_cast<std::size_t>(rank)].site; }
  const std::string& name() const { return options_.name; }
  Runtime& runtime() const { return *runtime_; }

  Status status() const;  // why it is not usable; ok while it is
  void abort(const std::string& reason);

  using WorkResult = Result<std::shared_ptr<Work>>;
  WorkResult allreduce(const void* send, void* recv, std::size_t count, DataType type, ReduceOp op,
                       const CallOptions& options);
  WorkResult broadcast(void* buffer, std::size_t count, DataType type, int root, const CallOptions& options);
  WorkResult all_gather(const void* send, void* recv, std::size_t count, DataType type, const CallOptions& options);
  WorkResult reduce_scatter(const void* send, void* recv, std::size_t count, DataType type, ReduceOp op,
                            const CallOptions& options);
  WorkResult barrier(const CallOptions& options);
  WorkResult send(const void* buffer, std::size_t count, DataType type, int destination, const CallOptions& options);
  WorkResult receive(void* buffer, std::size_t count, DataType type, int source, const CallOptions& options);

 private:
  struct Launch {
    Descriptor descriptor;
    std::string words;  // "allreduce"
    std::shared_ptr<const Schedule> schedule;
    const void* input = nullptr;
    void* output = nullptr;
  };
  struct SharedState {  // outlives the communicator: the engine reports into it
    std::mutex mutex;
    Status status;
  };

  Communicator(Runtime* runtime, GroupTable table, int rank, CommunicatorOptions options);

  static Result<std::unique_ptr<Communicator>> join(Runtime* runtime, GroupTable table, int rank,
                                                    const CommunicatorOptions& options);
  WorkResult launch(const Launch& launch, const CallOptions& options);
  WorkResult message(bool is_send, const void* input, void* output, std::size_t count, DataType type, int peer,
                     const CallOptions& options);
  WorkResult launch_point_to_point(const Launch& launch, int sender, int receiver, const CallOptions& options);
  std::shared_ptr<Work> submit(const Launch& launch, const OperationKey& key, std::string what,
                               const CallOptions& options);
  Status check_call(std::string_view operation, std::size_t count, DataType type, std::size_t blocks) const;
  std::string own_name() const { return table_.members[static_cast<std::size_t>(rank_)].name(rank_); }

  Runtime* const runtime_;
  const GroupTable table_;
  const SiteMap sites_;
  const int rank_;
  const CommunicatorOptions options_;
  const std::shared_ptr<SharedState> state_ = std::make_shared<SharedState>();

  std::mutex order_mutex_;  // numbers and submits as one step
  std::uint64_t next_sequence_ = 1;
  std::uint64_t next_split_ = 1;
  std::map<std::tuple<int, int, std::uint32_t>, std::uint64_t> next_message_;  // by sender, receiver, tag
};

}  // namespace isthmus
