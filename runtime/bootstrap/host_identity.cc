#include "runtime/bootstrap/host_identity.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "runtime/base/fd.h"
#include "runtime/base/log.h"

namespace isthmus {
namespace {

std::string first_line(const char* path) {
  const Fd file(::open(path, O_RDONLY | O_CLOEXEC));
  std::array<char, 128> buffer;
  const ssize_t count = file.valid() ? ::read(file.get(), buffer.data(), buffer.size()) : 0;
  const std::string text(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  return text.substr(0, text.find('\n'));
}

std::string link_target(const char* path) {
  std::array<char, 128> buffer;
  const ssize_t count = ::readlink(path, buffer.data(), buffer.size());
  return std::string(buffer.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
}

// The parts, joined; random where one of them is not known.
std::string join_or_random(std::initializer_list<std::string_view> parts) {
  std::string id;
  for (std::string_view part : parts) {
    if (part.empty()) {
      log_warning("/proc does not tell this host's boot id and namespaces: no other process is taken to share it");
      return fmt::format("alone {:016x}", make_process_id());
    }
    id += id.empty() ? "" : " ";
    id += part;
  }
  return id;
}

}  // namespace

Status fill_host_identity(ProcessInfo* info) {
  const std::string boot = first_line("/proc/sys/kernel/random/boot_id");
  const std::string ipc = link_target("/proc/self/ns/ipc"), mounts = link_target("/proc/self/ns/mnt");
  const std::string network = link_target("/proc/self/ns/net");
  info->host_id = join_or_random({boot, ipc, mounts, network});
  info->network_id = join_or_random({boot, network});
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) {
    return internal_error("this host does not tell its name: {}", errno_message(errno));
  }
  info->host_name = name.data();
  return Status();
}

}  // namespace isthmus
