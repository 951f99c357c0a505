#include "runtime/bootstrap/store_service.h"

namespace isthmus {

void StoreService::put(const std::string& key, std::string_view value, std::vector<Reply>* replies) {
  table_.set(key, value);
  const auto waiting = waiters_.find(key);
  if (waiting == waiters_.end()) return;
  for (const Waiter& waiter : waiting->second) {
    replies->push_back({waiter.connection, {waiter.id, Status(), std::string(value), 0}});
  }
  waiters_.erase(waiting);
}

void StoreService::handle(std::uint64_t connection, const StoreRequest& request, std::vector<Reply>* replies) {
  const auto answer = [&](Status status, std::string value = {}, std::int64_t number = 0) {
    replies->push_back({connection, {request.id, std::move(status), std::move(value), number}});
  };
  const std::string* value = table_.find(request.key);
  switch (request.call) {
    case StoreCall::kSet:
      answer(Status());
      put(request.key, request.value, replies);
      break;
    case StoreCall::kGet:
      if (value != nullptr) {
        answer(Status(), *value);
      } else {
        waiters_[request.key].push_back({connection, request.id});
      }
      break;
    case StoreCall::kContains: answer(Status(), {}, value != nullptr); break;
    case StoreCall::kAdd: {
      const Result<std::int64_t> sum = table_.sum(request.key, request.delta);
      answer(sum.status(), {}, sum.ok() ? *sum : 0);
      if (sum.ok()) put(request.key, fmt::format("{}", *sum), replies);
      break;
    }
    case StoreCall::kRemove:
      table_.remove(request.key);
      answer(Status());
      break;
    case StoreCall::kCancel: drop_waiters(connection, &request.id); break;
  }
}

void StoreService::drop_waiters(std::uint64_t connection, const std::uint64_t* id) {
  for (auto entry = waiters_.begin(); entry != waiters_.end();) {
    std::erase_if(entry->second, [&](const Waiter& waiter) {
      return waiter.connection == connection && (id == nullptr || waiter.id == *id);
    });
    entry = entry->second.empty() ? waiters_.erase(entry) : std::next(entry);
  }
}

void StoreService::forget(std::uint64_t connection) { drop_waiters(connection, nullptr); }

std::size_t StoreService::waiting_count() const {
  std::size_t count = 0;
  for (const auto& [key, waiters] : waiters_) count += waiters.size();
  return count;
}

}  // namespace isthmus
