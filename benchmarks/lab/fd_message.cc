#include "benchmarks/lab/fd_message.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace isthmus::lab {
namespace {

struct alignas(cmsghdr) ControlBuffer {
  std::array<char, CMSG_SPACE(kMaxFdsPerMessage * sizeof(int))> bytes{};
};

}  // namespace

Status send_with_fds(int socket, std::string_view text, std::span<const int> fds) {
  iovec data{const_cast<char*>(text.data()), text.size()};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  ControlBuffer control;
  if (!fds.empty()) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(fds.size_bytes());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(fds.size_bytes());
    std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
  }
  if (::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0) return Status();
  return unavailable("cannot hand over descriptors: {}", errno_message(errno));
}

Result<std::string> receive_with_fds(int socket, std::vector<Fd>* fds) {
  std::array<char, 4096> text;
  iovec data{text.data(), text.size()};
  ControlBuffer control;
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  ssize_t size;
  do {
    size = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size < 0) return unavailable("cannot receive descriptors: {}", errno_message(errno));
  if (size == 0) return unavailable("the other process ended without an answer");
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof(fd));
      fds->emplace_back(fd);
    }
  }
  return std::string(text.data(), static_cast<std::size_t>(size));
}

}  // namespace isthmus::lab
