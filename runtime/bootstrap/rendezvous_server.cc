#include "runtime/bootstrap/rendezvous_server.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <unordered_map>
#include <vector>

#include "runtime/base/fd.h"
#include "runtime/base/log.h"
#include "runtime/base/thread.h"
#include "runtime/bootstrap/process_info.h"
#include "runtime/bootstrap/store_service.h"
#include "runtime/control/poller.h"

namespace isthmus {
namespace {

constexpr std::uint64_t kWakeKey = 0, kListenerKey = 1, kFirstConnectionKey = 2;
constexpr Duration kAcceptPause = std::chrono::milliseconds(100);  // after a failed accept (no descriptors are left)
constexpr Duration kDrainLimit = std::chrono::seconds(1);

struct Connection {
  std::unique_ptr<ControlStream> stream;
  TimePoint greet_by;  // kNever: it has greeted
  bool writing = false;
  bool closing = false;  // once everything is sent
};

}  // namespace

class RendezvousServer::Loop {
 public:
  Loop(WakeFd wake, Poller poller, std::unique_ptr<ControlListener> listener, Duration greeting_limit)
      : wake_(std::move(wake)),
        poller_(std::move(poller)),
        listener_(std::move(listener)),
        greeting_limit_(greeting_limit) {}
  ~Loop() {
    stop_.store(true);
    wake_.signal();
    if (thread_.joinable()) thread_.join();
  }

  Status begin() {
    ISTHMUS_RETURN_IF_ERROR(poller_.add(wake_.get(), kWakeKey, false));
    ISTHMUS_RETURN_IF_ERROR(poller_.add(listener_->fd(), kListenerKey, false));
    ISTHMUS_ASSIGN_OR_RETURN(thread_, start_thread("isthmus-store", [this] { run(); }));
    return Status();
  }

 private:
  void run() {
    std::vector<std::uint64_t> ready;
    while (!stop_.load()) {
      const Status status = poller_.wait(next_due(), &ready);
      if (!status.ok()) return log_error("rendezvous server {}: {}", listener_->address(), status.to_string());
      for (std::uint64_t key : ready) {
        if (key == kWakeKey) wake_.drain();
        if (key == kListenerKey) accept_all();
        if (key >= kFirstConnectionKey) serve(key);
      }
      check_times();
    }
    drain();
  }

  TimePoint next_due() const {
    TimePoint due = accept_again_;
    for (const auto& [key, connection] : connections_) due = std::min(due, connection.greet_by);
    return due;
  }

  void accept_all() {
    while (true) {
      Result<std::unique_ptr<ControlStream>> stream = listener_->accept();
      if (!stream.ok()) {
        log_warning("rendezvous server: {}", stream.status().message());
        poller_.remove(listener_->fd());
        accept_again_ = SteadyClock::instance().now() + kAcceptPause;
        return;
      }
      if (*stream == nullptr) return;
      add_connection(std::move(stream).value());
    }
  }

  void add_connection(std::unique_ptr<ControlStream> stream) {
    const std::uint64_t key = next_key_++;
    const Status status = poller_.add(stream->fd(), key, false);
    if (!status.ok()) return log_warning("rendezvous server: {}", status.message());
    Connection connection{std::move(stream), SteadyClock::instance().now() + greeting_limit_};
    connections_.emplace(key, std::move(connection));
    serve(key);
  }

  void serve(std::uint64_t key) {
    const auto found = connections_.find(key);
    if (found == connections_.end()) return;  // closed earlier in this round
    Connection& connection = found->second;
    std::string message;
    while (!connection.closing) {
      const Result<bool> received = connection.stream->receive(&message);
      if (!received.ok()) return close(key, received.status());
      if (!*received) break;
      const Status status = connection.greet_by == kNever ? handle(key, message) : greet(connection, message);
      if (!status.ok()) return close(key, status);
    }
    flush(key);
  }

  Status greet(Connection& connection, std::string_view message) {
    ISTHMUS_ASSIGN_OR_RETURN(const StoreGreeting greeting, StoreGreeting::decode(message));
    connection.greet_by = kNever;
    if (greeting.protocol_version != kProtocolVersion) {
      log_warning("rendezvous server: {} speaks protocol version {}, this server {}: refused",
                  connection.stream->description(), greeting.protocol_version, kProtocolVersion);
      connection.closing = true;
    }
    return connection.stream->send(StoreGreeting{kProtocolVersion}.encode());
  }

  Status handle(std::uint64_t key, std::string_view message) {
    ISTHMUS_ASSIGN_OR_RETURN(const StoreRequest request, StoreRequest::decode(message));
    std::vector<StoreService::Reply> replies;
    service_.handle(key, request, &replies);
    for (const StoreService::Reply& reply : replies) {
      const auto found = connections_.find(reply.connection);
      if (found == connections_.end()) continue;
      // A failure is latched by the stream and found when that connection is served next.
      const Status status = found->second.stream->send(reply.answer.encode());
      if (!status.ok()) log_debug("rendezvous server: {}", status.message());
      watch_writing(reply.connection, found->second);
    }
    return Status();
  }

  void watch_writing(std::uint64_t key, Connection& connection) {
    const Result<bool> done = connection.stream->flush();
    const bool writing = done.ok() && !*done;
    if (writing == connection.writing) return;
    connection.writing = writing;
    const Status status = poller_.change(connection.stream->fd(), key, writing);
    if (!status.ok()) log_warning("rendezvous server: {}", status.message());
  }

  void flush(std::uint64_t key) {
    Connection& connection = connections_.at(key);
    watch_writing(key, connection);
    if (connection.closing && !connection.writing) close(key, unsupported("another protocol version"));
  }

  void close(std::uint64_t key, const Status& why) {
    const auto found = connections_.find(key);
    log_debug("rendezvous server: {} ends: {}", found->second.stream->description(), why.message());
    poller_.remove(found->second.stream->fd());
    service_.forget(key);
    connections_.erase(found);
  }

  void check_times() {
    const TimePoint now = SteadyClock::instance().now();
    if (now >= accept_again_) {
      accept_again_ = kNever;
      const Status status = poller_.add(listener_->fd(), kListenerKey, false);
      if (!status.ok()) accept_again_ = now + kAcceptPause;
    }
    std::vector<std::uint64_t> late;
    for (const auto& [key, connection] : connections_) {
      if (now >= connection.greet_by) late.push_back(key);
    }
    for (std::uint64_t key : late) close(key, deadline_exceeded("no greeting came"));
  }

  void drain() {
    const TimePoint deadline = SteadyClock::instance().now() + kDrainLimit;
    for (auto& [key, connection] : connections_) {
      while (connection.writing && SteadyClock::instance().now() < deadline) {
        const Result<bool> done = connection.stream->flush();
        connection.writing = done.ok() && !*done;
        if (connection.writing) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  }

  WakeFd wake_;
  Poller poller_;
  std::unique_ptr<ControlListener> listener_;
  Duration greeting_limit_;
  StoreService service_;
  std::unordered_map<std::uint64_t, Connection> connections_;
  std::uint64_t next_key_ = kFirstConnectionKey;
  TimePoint accept_again_ = kNever;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

RendezvousServer::RendezvousServer() = default;

Result<std::unique_ptr<RendezvousServer>> RendezvousServer::start(ControlNetwork* network,
                                                                  const RendezvousOptions& options) {
  ISTHMUS_ASSIGN_OR_RETURN(auto listener, network->listen(options.host, "", options.port_low, options.port_high));
  ISTHMUS_ASSIGN_OR_RETURN(WakeFd wake, WakeFd::create());
  ISTHMUS_ASSIGN_OR_RETURN(Poller poller, Poller::create());
  std::unique_ptr<RendezvousServer> server(new RendezvousServer());
  server->address_ = listener->address();
  server->loop_ =
      std::make_unique<Loop>(std::move(wake), std::move(poller), std::move(listener), options.greeting_limit);
  ISTHMUS_RETURN_IF_ERROR(server->loop_->begin());
  return server;
}

RendezvousServer::~RendezvousServer() {
  // In a child of fork() there is no thread to join, and the sockets are the parent's: left alone, on purpose.
  if (fork_guard_.in_child()) static_cast<void>(loop_.release());
}

}  // namespace isthmus
