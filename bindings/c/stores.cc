#include <algorithm>
#include <chrono>

#include "bindings/c/handles.h"
#include "runtime/bootstrap/callback_store.h"
#include "runtime/bootstrap/file_store.h"
#include "runtime/bootstrap/memory_store.h"
#include "runtime/bootstrap/tcp_store.h"
#include "runtime/control/control_networks.h"

using isthmus::c_api::guard;

namespace {

using isthmus::Duration;
using isthmus::Result;
using isthmus::Status;

Result<std::shared_ptr<isthmus::ControlNetwork>> network_for(const isthmus_options* options) {
  ISTHMUS_ASSIGN_OR_RETURN(const isthmus::SecurityConfig security,
                           isthmus::load_security(options != nullptr ? options->values : isthmus::Options()));
  return isthmus::make_control_network(security);
}

// The caller's callbacks, released when the last copy goes.
struct Callbacks {
  const isthmus_store_callbacks functions;
  explicit Callbacks(const isthmus_store_callbacks& from) : functions(from) {}
  Callbacks(const Callbacks&) = delete;
  Callbacks& operator=(const Callbacks&) = delete;
  ~Callbacks() {
    if (functions.release != nullptr) functions.release(functions.context);
  }

  Status status(isthmus_status code, const char* call, std::string_view key) const {
    if (code == ISTHMUS_OK) return Status();
    const char* text = functions.last_error != nullptr ? functions.last_error(functions.context) : nullptr;
    return Status(static_cast<isthmus::StatusCode>(code),
                  fmt::format("store {} of key \"{}\": {}", call, key, text != nullptr ? text : "no reason given"));
  }
};

// Rounded up: a rest of less than a millisecond is no time-out yet.
std::int64_t limit_ms(Duration limit) { return std::max<std::int64_t>(1, isthmus::to_ms(limit) + 1); }

isthmus::StoreFunctions store_functions(std::shared_ptr<Callbacks> c) {
  isthmus::StoreFunctions f;
  f.set = [c](std::string_view key, std::string_view value, Duration limit) {
    return c->status(
        c->functions.set(c->functions.context, std::string(key).c_str(), value.data(), value.size(), limit_ms(limit)),
        "set", key);
  };
  f.get = [c](std::string_view key, Duration limit) -> Result<std::string> {
    std::string value;
    const auto sink = [](void* to, const void* bytes, size_t count) {
      static_cast<std::string*>(to)->assign(static_cast<const char*>(bytes), count);
    };
    ISTHMUS_RETURN_IF_ERROR(c->status(
        c->functions.get(c->functions.context, std::string(key).c_str(), limit_ms(limit), sink, &value), "get", key));
    return value;
  };
  f.contains = [c](std::string_view key, Duration limit) -> Result<bool> {
    int found = 0;
    ISTHMUS_RETURN_IF_ERROR(
        c->status(c->functions.contains(c->functions.context, std::string(key).c_str(), limit_ms(limit), &found),
                  "contains", key));
    return found != 0;
  };
  f.add = [c](std::string_view key, std::int64_t delta, Duration limit) -> Result<std::int64_t> {
    std::int64_t sum = 0;
    ISTHMUS_RETURN_IF_ERROR(c->status(
        c->functions.add(c->functions.context, std::string(key).c_str(), delta, limit_ms(limit), &sum), "add", key));
    return sum;
  };
  if (c->functions.remove != nullptr)
    f.remove = [c](std::string_view key, Duration limit) {
      return c->status(c->functions.remove(c->functions.context, std::string(key).c_str(), limit_ms(limit)), "remove",
                       key);
    };
  return f;
}

template <typename StoreResult>
Status hand_out(StoreResult made, isthmus_store** store) {
  ISTHMUS_RETURN_IF_ERROR(made.status());
  *store = new isthmus_store{nullptr, std::move(made).value()};
  return Status();
}

}  // namespace

isthmus_status isthmus_store_create_callback(const isthmus_store_callbacks* callbacks, isthmus_store** store) {
  return guard([&]() -> Status {
    if (callbacks == nullptr || store == nullptr)
      return isthmus::invalid_argument("isthmus_store_create_callback: callbacks or store is null");
    ISTHMUS_ASSIGN_OR_RETURN(const isthmus_store_callbacks functions,
                             isthmus::c_api::read_struct(callbacks, "isthmus_store_callbacks"));
    if (functions.set == nullptr || functions.get == nullptr || functions.contains == nullptr ||
        functions.add == nullptr)
      return isthmus::invalid_argument("isthmus_store_callbacks: set, get, contains and add are needed");
    return hand_out(isthmus::CallbackStore::create(store_functions(std::make_shared<Callbacks>(functions))), store);
  });
}

isthmus_status isthmus_store_create_file(const char* path, isthmus_store** store) {
  return guard([&]() -> Status {
    if (path == nullptr || store == nullptr)
      return isthmus::invalid_argument("isthmus_store_create_file: path or store is null");
    return hand_out(isthmus::FileStore::open(path), store);
  });
}

isthmus_status isthmus_store_create_tcp(const isthmus_options* options, const char* address, int64_t timeout_ms,
                                        isthmus_store** store) {
  return guard([&]() -> Status {
    if (address == nullptr || store == nullptr)
      return isthmus::invalid_argument("isthmus_store_create_tcp: address or store is null");
    if (timeout_ms <= 0) return isthmus::invalid_argument("isthmus_store_create_tcp: timeout_ms {} <= 0", timeout_ms);
    const auto deadline =
        isthmus::deadline_after(isthmus::SteadyClock::instance().now(), isthmus::duration_of_ms(timeout_ms));
    ISTHMUS_ASSIGN_OR_RETURN(auto network, network_for(options));
    ISTHMUS_ASSIGN_OR_RETURN(auto connected, isthmus::TcpStore::connect(network.get(), address, deadline));
    *store = new isthmus_store{std::move(network), std::move(connected)};
    return Status();
  });
}

isthmus_status isthmus_store_create_memory(const char* name, isthmus_store** store) {
  return guard([&]() -> Status {
    if (name == nullptr || store == nullptr)
      return isthmus::invalid_argument("isthmus_store_create_memory: name or store is null");
    *store = new isthmus_store{nullptr, isthmus::MemoryStore::named(name)};
    return Status();
  });
}

void isthmus_store_destroy(isthmus_store* store) { delete store; }

isthmus_status isthmus_rendezvous_server_start(const isthmus_options* options, const char* host, uint16_t port,
                                               isthmus_rendezvous_server** server) {
  return guard([&]() -> Status {
    if (host == nullptr || server == nullptr)
      return isthmus::invalid_argument("isthmus_rendezvous_server_start: host or server is null");
    isthmus::RendezvousOptions where;
    where.host = host;
    where.port_low = where.port_high = port;
    ISTHMUS_ASSIGN_OR_RETURN(auto network, network_for(options));
    ISTHMUS_ASSIGN_OR_RETURN(auto started, isthmus::RendezvousServer::start(network.get(), where));
    const std::string address = started->address();
    *server = new isthmus_rendezvous_server{std::move(network), std::move(started), address};
    return Status();
  });
}

const char* isthmus_rendezvous_server_address(const isthmus_rendezvous_server* server) {
  return server->address.c_str();
}

void isthmus_rendezvous_server_stop(isthmus_rendezvous_server* server) { delete server; }
