#include "benchmarks/lab/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <random>

#include "benchmarks/lab/process_tree.h"

namespace isthmus::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxNameLength = 40;  // the socket's path must fit into sockaddr_un

Result<Fd> lock_file(const std::string& path, int operation) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (fd.valid() && ::flock(fd.get(), operation) == 0) return fd;
  return unavailable("cannot lock {}: {}", path, errno_message(errno));
}

// Whether the run of this directory has ended; then `lock` holds its lock.
bool has_ended(const fs::path& run, Fd* lock) {
  Result<Fd> taken = lock_file(run / "lock", LOCK_EX | LOCK_NB);
  if (!taken.ok()) return false;
  *lock = std::move(*taken);
  return true;
}

std::vector<fs::path> run_paths(const std::string& base) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(base, error)) {
    if (entry.is_directory(error)) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= kMaxNameLength && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace

Result<std::string> base_directory() {
  const uid_t user = ::geteuid();
  const std::string base = user == 0 ? "/run/isthmus-lab" : fmt::format("/tmp/isthmus-lab-{}", user);
  if (::mkdir(base.c_str(), 0700) != 0 && errno != EEXIST) {
    return unavailable("cannot make {}: {}", base, errno_message(errno));
  }
  struct stat info{};
  if (::lstat(base.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != user) {
    return unavailable("{} is not a directory of this user; remove it", base);
  }
  return base;
}

Result<BaseLock> BaseLock::take(const std::string& base) {
  ISTHMUS_ASSIGN_OR_RETURN(Fd fd, lock_file(base + "/lock", LOCK_EX));
  return BaseLock(std::move(fd));
}

Result<RunDirectory> RunDirectory::create(const std::string& base, std::string name) {
  if (name.empty()) name = fmt::format("lab-{}", ::getpid());
  if (!is_name(name)) {
    return invalid_argument("--name '{}': give 1 to {} letters, digits, '-', '_' and inner '.'", name, kMaxNameLength);
  }
  const std::string path = base + "/" + name;
  if (::mkdir(path.c_str(), 0700) != 0) {
    if (errno == EEXIST) return unavailable("--name {}: a lab of this name is running", name);
    return unavailable("cannot make {}: {}", path, errno_message(errno));
  }
  ISTHMUS_ASSIGN_OR_RETURN(Fd lock, lock_file(path + "/lock", LOCK_EX | LOCK_NB));
  std::random_device random;
  const std::string mark = fmt::format("{}={}-{:08x}{:08x}", kMarkVariable, name, random(), random());
  std::ofstream(path + "/mark") << mark;
  return RunDirectory(name, path, std::move(lock), mark);
}

RunDirectory::RunDirectory(std::string name, std::string path, Fd lock, std::string mark)
    : name_(std::move(name)),
      path_(std::move(path)),
      lock_(std::move(lock)),
      mark_(std::move(mark)),
      owner_(::getpid()) {}

RunDirectory::~RunDirectory() {
  if (!lock_.valid() || owner_ != ::getpid()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string RunDirectory::mark() const { return mark_; }

std::vector<std::string> living_runs(const std::string& base) {
  std::vector<std::string> names;
  for (const fs::path& run : run_paths(base)) {
    Fd lock;
    if (!has_ended(run, &lock)) names.push_back(run.filename());
  }
  return names;
}

std::vector<std::string> remove_leftovers(const std::string& base) {
  std::vector<std::string> report;
  for (const fs::path& run : run_paths(base)) {
    Fd lock;
    if (!has_ended(run, &lock)) continue;
    std::string mark;
    std::ifstream(run / "mark") >> mark;
    const int killed = mark.empty() ? 0 : kill_by_environment(mark);
    std::error_code ignored;
    fs::remove_all(run, ignored);
    report.push_back(fmt::format("cleaned up after lab '{}', which did not end by itself ({} processes killed)",
                                 run.filename().string(), killed));
  }
  return report;
}

}  // namespace isthmus::lab
