#include "runtime/control/poller.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>

#include "runtime/control/poll_fd.h"

namespace isthmus {
namespace {

epoll_event event_for(std::uint64_t key, bool writing) {
  epoll_event event{};
  event.events = EPOLLIN | (writing ? std::uint32_t{EPOLLOUT} : 0u);
  event.data.u64 = key;
  return event;
}

}  // namespace

Result<Poller> Poller::create() {
  Poller poller;
  poller.epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!poller.epoll_.valid()) return unavailable("cannot make an epoll descriptor: {}", errno_message(errno));
  return poller;
}

Status Poller::add(int fd, std::uint64_t key, bool writing) {
  epoll_event event = event_for(key, writing);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0) return Status();
  return unavailable("cannot watch descriptor {}: {}", fd, errno_message(errno));
}

Status Poller::change(int fd, std::uint64_t key, bool writing) {
  epoll_event event = event_for(key, writing);
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event) == 0) return Status();
  return internal_error("cannot change the watch of descriptor {}: {}", fd, errno_message(errno));
}

void Poller::remove(int fd) { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

Status Poller::wait(TimePoint deadline, std::vector<std::uint64_t>* keys) {
  keys->clear();
  std::array<epoll_event, 64> events;
  while (true) {
    const int timeout_ms = poll_timeout_ms(deadline);
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout_ms);
    if (count < 0 && errno != EINTR) return internal_error("epoll_wait failed: {}", errno_message(errno));
    for (int i = 0; i < count; ++i) keys->push_back(events[static_cast<std::size_t>(i)].data.u64);
    if (count > 0 || timeout_ms == 0) return Status();
  }
}

}  // namespace isthmus
