#include "runtime/control/memory_control.h"

#include <deque>
#include <map>
#include <mutex>

#include "runtime/base/fd.h"

namespace isthmus {
namespace {

// Things on their way from any thread to one reader, whose descriptor is readable while there are some, or the end.
template <typename T>
class Mailbox {
 public:
  explicit Mailbox(WakeFd wake) : wake_(std::move(wake)) {}

  bool put(T thing) {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    things_.push_back(std::move(thing));
    wake_.signal();
    return true;
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    wake_.signal();
  }
  // Whether there was one; `*ended`: there is none, and none will come.
  bool take(T* thing, bool* ended) {
    const std::lock_guard lock(mutex_);
    *ended = closed_ && things_.empty();
    if (things_.empty()) return false;
    *thing = std::move(things_.front());
    things_.pop_front();
    if (things_.empty() && !closed_) wake_.drain();
    return true;
  }
  bool closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  int fd() const { return wake_.get(); }

 private:
  mutable std::mutex mutex_;
  WakeFd wake_;
  std::deque<T> things_;
  bool closed_ = false;
};

using Messages = Mailbox<std::string>;
using Arrivals = Mailbox<std::unique_ptr<ControlStream>>;

template <typename Box>
Result<std::shared_ptr<Box>> make_mailbox() {
  ISTHMUS_ASSIGN_OR_RETURN(WakeFd wake, WakeFd::create());
  return std::make_shared<Box>(std::move(wake));
}

class MemoryStream final : public ControlStream {
 public:
  // `secret`: of this connection, the same at both ends.
  MemoryStream(std::shared_ptr<Messages> in, std::shared_ptr<Messages> out, std::string description,
               std::optional<Key> secret)
      : in_(std::move(in)), out_(std::move(out)), description_(std::move(description)), secret_(secret) {}
  ~MemoryStream() override {
    in_->close();
    out_->close();
  }

  Status send(std::string_view message) override {
    if (message.size() > kMaxControlMessageBytes) {
      return invalid_argument("a control message of {} bytes; at most {} are allowed", message.size(),
                              kMaxControlMessageBytes);
    }
    return out_->put(std::string(message)) ? Status() : gone();
  }
  Result<bool> flush() override {
    if (out_->closed()) return gone();
    return true;
  }
  Result<bool> receive(std::string* message) override {
    bool ended = false;
    if (in_->take(message, &ended)) return true;
    if (ended) return gone();
    return false;
  }
  int fd() const override { return in_->fd(); }
  bool wants_write() const override { return false; }
  std::string description() const override { return description_; }
  Result<Key> export_secret(std::string_view label, std::string_view context) override {
    if (!secret_) return unsupported("{}: a plain connection has no secret", description_);
    Key key;
    ISTHMUS_RETURN_IF_ERROR(hkdf_sha256(*secret_, as_bytes(context), label, key));
    return key;
  }

 private:
  Status gone() const { return unavailable("{}: the peer closed the connection", description_); }

  std::shared_ptr<Messages> in_, out_;
  std::string description_;
  const std::optional<Key> secret_;
};

// Of a new connection: from the job's secret and a nonce of each end.
Result<std::optional<Key>> draw_secret(const std::optional<JobSecret>& job) {
  if (!job) return std::optional<Key>();
  std::array<std::byte, 64> nonces;
  Key secret;
  ISTHMUS_RETURN_IF_ERROR(random_bytes(nonces));
  ISTHMUS_RETURN_IF_ERROR(job->derive("memory stream", nonces, secret));
  return std::optional<Key>(secret);
}

}  // namespace

class MemoryListenerTable {
 public:
  std::string add(std::shared_ptr<Arrivals> arrivals) {
    const std::lock_guard lock(mutex_);
    std::string address = fmt::format("memory:{}", ++last_);
    listeners_.emplace(address, std::move(arrivals));
    return address;
  }
  void remove(const std::string& address) {
    const std::lock_guard lock(mutex_);
    listeners_.erase(address);
  }
  std::shared_ptr<Arrivals> find(const std::string& address) const {
    const std::lock_guard lock(mutex_);
    const auto found = listeners_.find(address);
    return found == listeners_.end() ? nullptr : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Arrivals>> listeners_;
  std::uint64_t last_ = 0;
};

namespace {

class MemoryListener final : public ControlListener {
 public:
  MemoryListener(std::shared_ptr<MemoryListenerTable> table, std::shared_ptr<Arrivals> arrivals)
      : table_(std::move(table)), arrivals_(std::move(arrivals)), address_(table_->add(arrivals_)) {}
  // Streams that were never accepted end with the listener, as the kernel resets connections in the backlog.
  ~MemoryListener() override {
    table_->remove(address_);
    arrivals_->close();
    std::unique_ptr<ControlStream> unaccepted;
    for (bool ended = false; arrivals_->take(&unaccepted, &ended);) unaccepted.reset();
  }

  Result<std::unique_ptr<ControlStream>> accept() override {
    std::unique_ptr<ControlStream> stream;
    bool ended = false;
    arrivals_->take(&stream, &ended);
    return stream;
  }
  int fd() const override { return arrivals_->fd(); }
  const std::string& address() const override { return address_; }

 private:
  std::shared_ptr<MemoryListenerTable> table_;
  std::shared_ptr<Arrivals> arrivals_;
  std::string address_;
};

}  // namespace

MemoryControlNetwork::MemoryControlNetwork(std::optional<JobSecret> secret)
    : table_(std::make_shared<MemoryListenerTable>()), secret_(std::move(secret)) {}
MemoryControlNetwork::~MemoryControlNetwork() = default;

Result<std::unique_ptr<ControlListener>> MemoryControlNetwork::listen(const std::string&, const std::string&,
                                                                      std::uint16_t, std::uint16_t) {
  ISTHMUS_ASSIGN_OR_RETURN(std::shared_ptr<Arrivals> arrivals, make_mailbox<Arrivals>());
  return std::unique_ptr<ControlListener>(std::make_unique<MemoryListener>(table_, std::move(arrivals)));
}

Result<std::unique_ptr<ControlStream>> MemoryControlNetwork::dial(const std::string& address) {
  if (!address.starts_with("memory:")) return invalid_argument("\"{}\" is no address of the memory network", address);
  const std::shared_ptr<Arrivals> arrivals = table_->find(address);
  ISTHMUS_ASSIGN_OR_RETURN(std::shared_ptr<Messages> there, make_mailbox<Messages>());
  ISTHMUS_ASSIGN_OR_RETURN(std::shared_ptr<Messages> back, make_mailbox<Messages>());
  ISTHMUS_ASSIGN_OR_RETURN(const std::optional<Key> secret, draw_secret(secret_));
  auto ours = std::make_unique<MemoryStream>(back, there, "memory -> " + address, secret);
  auto theirs = std::make_unique<MemoryStream>(there, back, address + " -> memory", secret);
  if (arrivals == nullptr || !arrivals->put(std::move(theirs))) {
    return unavailable("{}: nobody listens there", address);
  }
  return std::unique_ptr<ControlStream>(std::move(ours));
}

}  // namespace isthmus
