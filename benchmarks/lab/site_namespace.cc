#include "benchmarks/lab/site_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>

#include "benchmarks/lab/address_plan.h"
#include "benchmarks/lab/fd_message.h"
#include "benchmarks/lab/sysctl.h"
#include "benchmarks/lab/tun_device.h"

namespace isthmus::lab {
namespace {

constexpr const char* kCongestionSysctl = "net/ipv4/tcp_congestion_control";

Status failure(const char* what) { return unavailable("cannot {}: {}", what, errno_message(errno)); }

// Keeps our mounts from showing outside. In a chroot "/" is no mount point, so the mounts are changed from the
// namespace's own root, to which joining a namespace leads, even if it is the present one.
Status make_mounts_private() {
  const Fd root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Fd working(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const Fd mounts(::open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC));
  if (!mounts.valid() || ::setns(mounts.get(), CLONE_NEWNS) != 0) return failure("join the new mount namespace");
  if (::mount("", "/", nullptr, MS_SLAVE | MS_REC, nullptr) != 0) return failure("make the mounts private");
  if (::fchdir(root.get()) != 0 || ::chroot(".") != 0) return failure("return to the root directory");
  if (working.valid() && ::fchdir(working.get()) != 0) return failure("return to the working directory");
  return Status();
}

// /sys shows the network devices of the namespace that mounts it, and libraries look there. The control groups, which
// hang below it, stay visible.
bool mount_sys() {
  const Fd groups(::open("/sys/fs/cgroup", O_PATH | O_CLOEXEC));
  if (::mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) return false;
  const std::string source = fmt::format("/proc/self/fd/{}", groups.get());
  ::mount(source.c_str(), "/sys/fs/cgroup", nullptr, MS_BIND | MS_REC, nullptr);
  return true;
}

std::string hosts_text(const SiteNamespaceSpec& spec) {
  std::string text = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n";
  for (int site = 0; site < static_cast<int>(spec.site_names.size()); ++site) {
    const bool loopback = spec.loopback_hostname && site == spec.site;
    text += fmt::format("{} {}\n", loopback ? "127.0.1.1" : spec.site_hosts[static_cast<std::size_t>(site)],
                        spec.site_names[static_cast<std::size_t>(site)]);
  }
  return text;
}

// Bare systems have no /etc/hosts to mount over. An overlay makes room for one without touching theirs.
bool make_hosts_file(const SiteNamespaceSpec& spec) {
  if (::access("/etc/hosts", F_OK) == 0) return true;
  const std::string upper = fmt::format("{}/etc.{}", spec.scratch_directory, spec.site);
  const std::string work = fmt::format("{}/work.{}", spec.scratch_directory, spec.site);
  if (::mkdir(upper.c_str(), 0755) != 0 || ::mkdir(work.c_str(), 0700) != 0) return false;
  const std::string layers = fmt::format("lowerdir=/etc,upperdir={},workdir={}", upper, work);
  if (::mount("overlay", "/etc", "overlay", MS_NOSUID | MS_NODEV, layers.c_str()) != 0) return false;
  return Fd(::open("/etc/hosts", O_WRONLY | O_CREAT | O_CLOEXEC, 0644)).valid();
}

// Each site has its own host name, which every site can look up.
bool set_host_name(const SiteNamespaceSpec& spec) {
  const std::string path = fmt::format("{}/hosts.{}", spec.scratch_directory, spec.site);
  std::ofstream(path) << hosts_text(spec);
  ::chmod(path.c_str(), 0644);
  if (!make_hosts_file(spec)) return false;
  if (::mount(path.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) != 0) return false;
  const std::string& name = spec.site_names[static_cast<std::size_t>(spec.site)];
  return ::sethostname(name.data(), name.size()) == 0;
}

Status set_congestion(const std::string& wanted) {
  const Status written = write_sysctl(kCongestionSysctl, wanted);
  ISTHMUS_ASSIGN_OR_RETURN(const std::string actual, read_sysctl(kCongestionSysctl));
  if (actual == wanted) return Status();
  const std::string reason = written.ok() ? "" : fmt::format(" ({})", written.message());
  return unsupported(
      "--congestion {}: the namespace has {} instead{}; root must add {} to net.ipv4.tcp_allowed_congestion_control, "
      "which the lab does itself when root runs it",
      wanted, actual, reason, wanted);
}

// Runs in the child. Gives the warnings.
Result<std::string> set_up(const SiteNamespaceSpec& spec, Fd* tun) {
  if (::unshare(CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC) != 0) {
    return failure("make the namespaces of a site (this needs root or user namespaces)");
  }
  ISTHMUS_RETURN_IF_ERROR(make_mounts_private());
  ISTHMUS_ASSIGN_OR_RETURN(*tun, create_tun_device(spec.site, spec.mtu));
  if (!spec.congestion.empty()) ISTHMUS_RETURN_IF_ERROR(set_congestion(spec.congestion));
  std::string warning;
  if (!write_sysctl("net/ipv4/ping_group_range", fmt::format("{0} {0}", spec.group)).ok()) {
    warning += "ping needs a privilege; ";
  }
  if (!mount_sys()) warning += "/sys shows the host's network devices; ";
  if (::mount("tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") != 0) {
    warning += "sites share /dev/shm; ";
  }
  if (!set_host_name(spec)) {
    if (spec.loopback_hostname) return unsupported("--loopback-hostname: cannot mount over /etc/hosts");
    warning += "sites share the host's name, as /etc/hosts cannot be mounted over; ";
  }
  if (!warning.empty()) warning.resize(warning.size() - 2);
  return warning;
}

// What the child hands over, in this order, after the TUN device.
constexpr std::array<const char*, 6> kHandedOver = {
    "/proc/self/ns/net", "/proc/self/ns/uts", "/proc/self/ns/ipc", "/proc/self/ns/mnt", "/", "."};

[[noreturn]] void run_child(const SiteNamespaceSpec& spec, int channel) {
  Fd tun;
  const Result<std::string> done = set_up(spec, &tun);
  if (!done.ok()) {
    [[maybe_unused]] const Status ignored = send_with_fds(channel, done.status().to_string(), {});
    ::_exit(1);
  }
  std::vector<int> fds{tun.release()};
  for (const char* path : kHandedOver) fds.push_back(::open(path, O_RDONLY | O_CLOEXEC));
  const std::string congestion = read_sysctl(kCongestionSysctl).ok() ? *read_sysctl(kCongestionSysctl) : "unknown";
  const Status sent = send_with_fds(channel, congestion + "\n" + *done, fds);
  ::_exit(sent.ok() ? 0 : 1);
}

Status write_file(const char* path, const std::string& text) {
  const Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
  if (fd.valid() && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size())) return Status();
  return unavailable("cannot write {}: {}", path, errno_message(errno));
}

}  // namespace

Result<SiteNamespace> SiteNamespace::create(const SiteNamespaceSpec& spec) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return failure("make a socket pair");
  const Fd ours(ends[0]);
  Fd theirs(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return failure("fork");
  if (child == 0) run_child(spec, theirs.get());
  theirs.reset();
  std::vector<Fd> fds;
  Result<std::string> answer = receive_with_fds(ours.get(), &fds);
  ::waitpid(child, nullptr, 0);
  ISTHMUS_RETURN_IF_ERROR(answer.status());
  const std::string& name = spec.site_names[static_cast<std::size_t>(spec.site)];
  if (fds.size() != kHandedOver.size() + 1) return unavailable("site {}: {}", name, *answer);

  SiteNamespace made;
  const std::size_t newline = answer->find('\n');
  made.congestion_ = answer->substr(0, newline);
  made.warning_ = answer->substr(newline + 1);
  Fd* const places[] = {&made.tun_,    &made.network_, &made.host_name_,        &made.ipc_,
                        &made.mounts_, &made.root_,    &made.working_directory_};
  for (std::size_t i = 0; i < fds.size(); ++i) *places[i] = std::move(fds[i]);
  return made;
}

Status SiteNamespace::enter() const {
  if (::setns(network_.get(), CLONE_NEWNET) != 0 || ::setns(host_name_.get(), CLONE_NEWUTS) != 0 ||
      ::setns(ipc_.get(), CLONE_NEWIPC) != 0 || ::setns(mounts_.get(), CLONE_NEWNS) != 0) {
    return failure("join the namespaces of the site");
  }
  if (::fchdir(root_.get()) != 0 || ::chroot(".") != 0 || ::fchdir(working_directory_.get()) != 0) {
    return failure("go to the working directory in the site");
  }
  return Status();
}

Status enter_user_namespace() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(CLONE_NEWUSER) != 0) {
    return failure("make a user namespace (run as root, or allow user namespaces on this machine)");
  }
  ISTHMUS_RETURN_IF_ERROR(write_file("/proc/self/setgroups", "deny"));
  ISTHMUS_RETURN_IF_ERROR(write_file("/proc/self/uid_map", fmt::format("{0} {0} 1", user)));
  return write_file("/proc/self/gid_map", fmt::format("{0} {0} 1", group));
}

}  // namespace isthmus::lab
