#include "runtime/bootstrap/tcp_store.h"

#include <algorithm>
#include <thread>
#include <vector>

#include "runtime/base/socket_address.h"
#include "runtime/bootstrap/process_info.h"

namespace isthmus {
namespace {

constexpr Duration kAttemptLimit = std::chrono::seconds(5);
constexpr Duration kCloneLimit = std::chrono::seconds(30);

std::string_view call_name(StoreCall call) {
  constexpr std::string_view kNames[] = {"set", "get", "contains", "add", "remove", "cancel"};
  return kNames[static_cast<int>(call) - 1];
}

// The addresses to try: those of a host name, or the one that was given (which may be of another kind of network).
Result<std::vector<std::string>> numeric_addresses(const std::string& address) {
  const Result<HostPort> parts = split_host_port(address);
  if (!parts.ok() || address.starts_with("memory:")) return std::vector<std::string>{address};
  ISTHMUS_ASSIGN_OR_RETURN(std::vector<std::string> hosts, resolve_host(parts->host));
  for (std::string& host : hosts) host = join_host_port(host, parts->port);
  return hosts;
}

}  // namespace

Result<std::unique_ptr<TcpStore>> TcpStore::try_connect(ControlNetwork* network, const std::string& address,
                                                        TimePoint deadline) {
  const TimePoint limit = std::min(deadline, SteadyClock::instance().now() + kAttemptLimit);
  ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<ControlStream> stream, network->connect(address, limit));
  ISTHMUS_RETURN_IF_ERROR(send_message(*stream, StoreGreeting{kProtocolVersion}.encode(), limit));
  ISTHMUS_ASSIGN_OR_RETURN(const std::string bytes, receive_message(*stream, limit));
  ISTHMUS_ASSIGN_OR_RETURN(const StoreGreeting greeting, StoreGreeting::decode(bytes));
  if (greeting.protocol_version != kProtocolVersion) {
    return unsupported(
        "the rendezvous server at {} speaks protocol version {}, this process {}: the same version of "
        "Isthmus is needed everywhere",
        address, greeting.protocol_version, kProtocolVersion);
  }
  return std::unique_ptr<TcpStore>(new TcpStore(network, address, std::move(stream)));
}

Result<std::unique_ptr<TcpStore>> TcpStore::connect(ControlNetwork* network, const std::string& address,
                                                    TimePoint deadline) {
  const TimePoint start = SteadyClock::instance().now();
  Duration pause = std::chrono::milliseconds(20);
  Status last = unavailable("nothing was tried");
  while (true) {
    const Result<std::vector<std::string>> addresses = numeric_addresses(address);
    if (!addresses.ok()) last = addresses.status();
    for (const std::string& numeric : addresses.ok() ? *addresses : std::vector<std::string>{}) {
      Result<std::unique_ptr<TcpStore>> store = try_connect(network, numeric, deadline);
      if (store.ok()) return store;
      last = store.status();
      // Neither a stranger behind the port nor another version gets better by waiting.
      const bool is_final = last.code() != StatusCode::kUnavailable && last.code() != StatusCode::kDeadlineExceeded;
      if (is_final) return last.with_context(fmt::format("rendezvous server {}", address));
    }
    const TimePoint now = SteadyClock::instance().now();
    if (now + pause >= deadline) {
      return deadline_exceeded("no rendezvous server answers at {} after {:.1f} s: {}", address,
                               to_seconds(now - start), last.message());
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, Duration(std::chrono::milliseconds(500)));
  }
}

Result<StoreAnswer> TcpStore::exchange(const StoreRequest& request, TimePoint deadline) {
  ISTHMUS_RETURN_IF_ERROR(send_message(*stream_, request.encode(), deadline));
  while (true) {
    ISTHMUS_ASSIGN_OR_RETURN(const std::string bytes, receive_message(*stream_, deadline));
    ISTHMUS_ASSIGN_OR_RETURN(StoreAnswer answer, StoreAnswer::decode(bytes));
    if (answer.id == request.id) return answer;  // else: the answer to one that was given up
  }
}

Result<StoreAnswer> TcpStore::ask(StoreCall call, std::string_view key, std::string_view value, std::int64_t delta,
                                  TimePoint deadline) {
  ISTHMUS_RETURN_IF_ERROR(fork_guard_.check("the connection to the rendezvous server"));
  const TimePoint start = SteadyClock::instance().now();
  const StoreRequest request{++last_id_, call, std::string(key), std::string(value), delta};
  Result<StoreAnswer> answer = exchange(request, deadline);
  Status status = answer.ok() ? answer->status : answer.status();
  if (status.ok()) return answer;
  if (status.code() == StatusCode::kDeadlineExceeded) {
    const Status cancelled = stream_->send(StoreRequest{request.id, StoreCall::kCancel, {}, {}, 0}.encode());
    return deadline_exceeded("{} of key \"{}\" had no answer from the rendezvous server {} in {:.1f} s{}",
                             call_name(call), key, server_address_, to_seconds(SteadyClock::instance().now() - start),
                             cancelled.ok() ? "" : ", and the connection is lost");
  }
  return status.with_context(fmt::format("{} of key \"{}\"", call_name(call), key));
}

Status TcpStore::set(std::string_view key, std::string_view value, TimePoint deadline) {
  return ask(StoreCall::kSet, key, value, 0, deadline).status();
}

Result<std::string> TcpStore::get(std::string_view key, TimePoint deadline) {
  ISTHMUS_ASSIGN_OR_RETURN(StoreAnswer answer, ask(StoreCall::kGet, key, "", 0, deadline));
  return std::move(answer.value);
}

Result<bool> TcpStore::contains(std::string_view key, TimePoint deadline) {
  ISTHMUS_ASSIGN_OR_RETURN(const StoreAnswer answer, ask(StoreCall::kContains, key, "", 0, deadline));
  return answer.number != 0;
}

Result<std::int64_t> TcpStore::add(std::string_view key, std::int64_t delta, TimePoint deadline) {
  ISTHMUS_ASSIGN_OR_RETURN(const StoreAnswer answer, ask(StoreCall::kAdd, key, "", delta, deadline));
  return answer.number;
}

Status TcpStore::remove(std::string_view key, TimePoint deadline) {
  return ask(StoreCall::kRemove, key, "", 0, deadline).status();
}

std::string TcpStore::server_host() const {
  const Result<SocketAddress> address = SocketAddress::parse(server_address_);
  return address.ok() ? address->host() : "";
}

Result<std::unique_ptr<Store>> TcpStore::clone() {
  ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<TcpStore> store,
                           connect(network_, server_address_, SteadyClock::instance().now() + kCloneLimit));
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace isthmus
