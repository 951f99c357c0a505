// TcpStore: a client of a rendezvous server.
//
// Threads: one thread at a time per object; clone() makes a connection of its own.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/fork_guard.h"
#include "runtime/bootstrap/store.h"
#include "runtime/bootstrap/store_protocol.h"
#include "runtime/control/control_stream.h"

namespace isthmus {

class TcpStore final : public Store {
 public:
  // `address`: "host:port"; the host may be a name. Tries until the deadline: the server may start later than its
  // clients. `network` outlives the store. unsupported: the server speaks another version; both are named.
  static Result<std::unique_ptr<TcpStore>> connect(ControlNetwork* network, const std::string& address,
                                                   TimePoint deadline);

  Status set(std::string_view key, std::string_view value, TimePoint deadline) override;
  Result<std::string> get(std::string_view key, TimePoint deadline) override;
  Result<bool> contains(std::string_view key, TimePoint deadline) override;
  Result<std::int64_t> add(std::string_view key, std::int64_t delta, TimePoint deadline) override;
  Status remove(std::string_view key, TimePoint deadline) override;
  Result<std::unique_ptr<Store>> clone() override;
  std::string server_host() const override;

 private:
  TcpStore(ControlNetwork* network, std::string server_address, std::unique_ptr<ControlStream> stream)
      : network_(network), server_address_(std::move(server_address)), stream_(std::move(stream)) {}
  static Result<std::unique_ptr<TcpStore>> try_connect(ControlNetwork* network, const std::string& address,
                                                       TimePoint deadline);
  Result<StoreAnswer> ask(StoreCall call, std::string_view key, std::string_view value, std::int64_t delta,
                          TimePoint deadline);
  Result<StoreAnswer> exchange(const StoreRequest& request, TimePoint deadline);

  ForkGuard fork_guard_;
  ControlNetwork* network_;
  std::string server_address_;
  std::unique_ptr<ControlStream> stream_;
  std::uint64_t last_id_ = 0;
};

}  // namespace isthmus
