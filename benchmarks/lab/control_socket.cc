#include "benchmarks/lab/control_socket.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace isthmus::lab {
namespace {

constexpr std::size_t kMaxRequestBytes = 4096;
constexpr std::string_view kOk = "ok\n";
constexpr std::string_view kError = "error\n";

Result<Fd> unix_socket() {
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid()) return unavailable("cannot make a Unix socket: {}", errno_message(errno));
  return fd;
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
  return address;
}

void set_timeouts(int fd, int seconds) {
  const timeval timeout{.tv_sec = seconds, .tv_usec = 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
}

bool send_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// All until the other side has said everything; false when it stalls or says too much.
bool receive_all(int fd, std::size_t max_bytes, std::string* out) {
  std::array<char, 4096> buffer;
  while (out->size() <= max_bytes) {
    const ssize_t size = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (size == 0) return true;
    if (size < 0) return false;
    out->append(buffer.data(), static_cast<std::size_t>(size));
  }
  return false;
}

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace

Result<ControlServer> ControlServer::listen(const std::string& path) {
  ISTHMUS_ASSIGN_OR_RETURN(Fd fd, unix_socket());
  const sockaddr_un address = address_of(path);
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(fd.get(), 8) != 0) {
    return unavailable("cannot listen on {}: {}", path, errno_message(errno));
  }
  return ControlServer(std::move(fd));
}

void ControlServer::serve(const Handler& handler) {
  const Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!client.valid()) return;
  set_timeouts(client.get(), 1);
  std::string request;
  if (!receive_all(client.get(), kMaxRequestBytes, &request)) return;
  const Result<std::string> answer = handler(split_lines(request));
  if (!send_all(client.get(), answer.ok() ? kOk : kError)) return;
  send_all(client.get(), answer.ok() ? *answer : answer.status().message());
}

Result<std::string> ask_lab(const std::string& path, const std::vector<std::string>& words) {
  ISTHMUS_ASSIGN_OR_RETURN(const Fd fd, unix_socket());
  constexpr int kTimeoutSeconds = 10;
  set_timeouts(fd.get(), kTimeoutSeconds);
  const sockaddr_un address = address_of(path);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    return unavailable("cannot reach the lab at {}: {}", path, errno_message(errno));
  }
  std::string answer;
  if (!send_all(fd.get(), fmt::format("{}\n", fmt::join(words, "\n"))) || ::shutdown(fd.get(), SHUT_WR) != 0 ||
      !receive_all(fd.get(), std::size_t{64} << 20, &answer)) {
    return deadline_exceeded("the lab at {} gave no answer in {} s", path, kTimeoutSeconds);
  }
  if (answer.starts_with(kOk)) return answer.substr(kOk.size());
  if (answer.starts_with(kError)) return invalid_argument("{}", answer.substr(kError.size()));
  return unavailable("the lab at {} ended before it answered", path);
}

}  // namespace isthmus::lab
