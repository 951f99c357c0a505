#include "runtime/control/tls_listener.h"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "runtime/base/log.h"
#include "runtime/control/framed_stream.h"

namespace isthmus {
namespace {

constexpr std::uint64_t kSocketKey = 0, kTimerKey = 1;
constexpr int kMaxDroppedReads = 16;  // of what a peer sends that has failed

TimePoint now() { return SteadyClock::instance().now(); }

}  // namespace

Result<std::unique_ptr<TlsListener>> TlsListener::create(std::shared_ptr<const TlsContext> context, BoundSocket bound,
                                                         const HandshakeLimits& limits) {
  std::unique_ptr<TlsListener> listener(new TlsListener(std::move(context), std::move(bound), limits));
  ISTHMUS_RETURN_IF_ERROR(listener->watch());
  return listener;
}

Status TlsListener::watch() {
  ISTHMUS_ASSIGN_OR_RETURN(poller_, Poller::create());
  timer_.reset(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer_.valid()) return unavailable("cannot make a timer: {}", errno_message(errno));
  ISTHMUS_RETURN_IF_ERROR(poller_.add(bound_.socket.get(), kSocketKey, false));
  return poller_.add(timer_.get(), kTimerKey, false);
}

Result<std::unique_ptr<ControlStream>> TlsListener::accept() {
  ISTHMUS_RETURN_IF_ERROR(poller_.wait(TimePoint(), &keys_));
  Status accepting;
  for (const std::uint64_t key : keys_) {
    const auto entry =
        std::find_if(handshakes_.begin(), handshakes_.end(), [&](const auto& h) { return h.key == key; });
    if (entry != handshakes_.end()) advance(entry);
    if (key == kSocketKey) accepting = take_new();
  }
  end_late();
  std::unique_ptr<ControlStream> stream;
  if (!ready_.empty()) {
    stream = std::move(ready_.front());
    ready_.erase(ready_.begin());
  }
  set_timer();
  if (stream == nullptr) ISTHMUS_RETURN_IF_ERROR(accepting);
  return stream;
}

Status TlsListener::take_new() {
  // A round of accept() takes no more than it can hold: the next one goes on.
  for (std::size_t i = 0; i < limits_.count; ++i) {
    Result<std::unique_ptr<SocketChannel>> socket = accept_tcp(bound_.socket.get(), bound_.address);
    if (!socket.ok() && !handshakes_.empty()) {  // no descriptors: strangers give theirs back first
      end(handshakes_.begin());
      socket = accept_tcp(bound_.socket.get(), bound_.address);
    }
    ISTHMUS_RETURN_IF_ERROR(socket.status());
    if (*socket == nullptr) return Status();
    ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<TlsChannel> channel,
                             TlsChannel::create(context_, TlsContext::Role::kServer, std::move(socket).value()));
    if (handshakes_.size() >= limits_.count) end(handshakes_.begin());
    const std::uint64_t key = next_key_++;
    ISTHMUS_RETURN_IF_ERROR(poller_.add(channel->fd(), key, false));
    handshakes_.push_back({key, now() + limits_.time, std::move(channel)});
    advance(std::prev(handshakes_.end()));
  }
  return Status();
}

void TlsListener::advance(Entry entry) {
  if (entry->failed) return drop_input(entry);
  const Result<bool> stands = entry->channel->stand();
  if (!stands.ok()) return fail(entry, stands.status());
  if (*stands) {
    poller_.remove(entry->channel->fd());
    ready_.push_back(std::make_unique<FramedStream>(std::move(entry->channel)));
    handshakes_.erase(entry);
    return;
  }
  if (entry->wants_write == entry->channel->wants_write()) return;
  entry->wants_write = !entry->wants_write;
  const Status status = poller_.change(entry->channel->fd(), entry->key, entry->wants_write);
  if (!status.ok()) fail(entry, status);
}

void TlsListener::fail(Entry entry, const Status& why) {
  if (why.code() == StatusCode::kDeadlineExceeded) {  // it went away
    log_debug("{}: {}: {}", address(), entry->channel->description(), why.message());
    return end(entry);
  }
  refusals_.warn(now(), "a connection to {} was refused: {}: {}", address(), entry->channel->description(),
                 why.message());
  entry->failed = true;
  entry->channel->socket().end_writing();
  drop_input(entry);
}

// Closing with unread input would reset the connection, and the peer might never see the alert.
void TlsListener::drop_input(Entry entry) {
  std::array<char, 4096> buffer;
  for (int i = 0; i < kMaxDroppedReads; ++i) {
    const Result<std::size_t> got = entry->channel->socket().read(buffer.data(), buffer.size());
    if (!got.ok()) return end(entry);
    if (*got == 0) return;
  }
  end(entry);  // it talks on
}

void TlsListener::end(Entry entry) {
  poller_.remove(entry->channel->fd());
  handshakes_.erase(entry);
}

void TlsListener::end_late() {
  const TimePoint time = now();
  while (!handshakes_.empty() && handshakes_.front().due <= time) end(handshakes_.begin());
}

void TlsListener::set_timer() {
  itimerspec when{};  // zero: off
  if (!ready_.empty() || !handshakes_.empty()) {
    const Duration wanted = ready_.empty() ? handshakes_.front().due - now() : Duration::zero();
    const Duration left = std::max<Duration>(wanted, std::chrono::microseconds(1));
    when.it_value.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(left).count();
    when.it_value.tv_nsec = (left % std::chrono::seconds(1)).count();
  }
  ::timerfd_settime(timer_.get(), 0, &when, nullptr);  // also takes the last expiry away
}

}  // namespace isthmus
