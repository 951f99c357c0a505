// StoreService: what the rendezvous server does with requests; no sockets, no clock.
//
// Threads: one thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/bootstrap/key_table.h"
#include "runtime/bootstrap/store_protocol.h"

namespace isthmus {

class StoreService {
 public:
  struct Reply {
    std::uint64_t connection = 0;
    StoreAnswer answer;
  };

  // Adds the answers that the request gives rise to: to it, and to gets that waited for its key.
  void handle(std::uint64_t connection, const StoreRequest& request, std::vector<Reply>* replies);

  // The connection ended: nobody waits there any more.
  void forget(std::uint64_t connection);

  std::size_t waiting_count() const;

 private:
  struct Waiter {
    std::uint64_t connection = 0, id = 0;
  };

  void put(const std::string& key, std::string_view value, std::vector<Reply>* replies);
  void drop_waiters(std::uint64_t connection, const std::uint64_t* id);

  KeyTable table_;
  std::unordered_map<std::string, std::vector<Waiter>> waiters_;  // by key
};

}  // namespace isthmus
