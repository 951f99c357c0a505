#include "runtime/bootstrap/file_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "runtime/base/bytes.h"

namespace isthmus {
namespace {

constexpr std::string_view kMagic = "isthmus-store-1\n";
constexpr std::size_t kHeadBytes = 2 * sizeof(std::uint32_t);
constexpr char kSet = 'S', kRemove = 'R';

// FNV-1a: tells a torn record from a whole one; it guards against no attacker.
std::uint32_t checksum(std::string_view bytes) {
  std::uint32_t hash = 2166136261u;
  for (unsigned char c : bytes) hash = (hash ^ c) * 16777619u;
  return hash;
}

std::string make_record(char kind, std::string_view key, std::string_view value) {
  std::string body, record;
  ByteWriter writer(&body);
  writer.put(static_cast<std::uint8_t>(kind));
  writer.put_text(key);
  writer.put_text(value);
  ByteWriter head(&record);
  head.put(static_cast<std::uint32_t>(body.size()));
  head.put(checksum(body));
  return record + body;
}

// 1 ms, then twice as long each time up to 50 ms, and never beyond the deadline. False: it is reached.
class Backoff {
 public:
  explicit Backoff(TimePoint deadline) : deadline_(deadline) {}
  bool sleep() {
    const TimePoint now = SteadyClock::instance().now();
    if (now >= deadline_) return false;
    std::this_thread::sleep_until(std::min(deadline_, now + pause_));
    pause_ = std::min(2 * pause_, Duration(std::chrono::milliseconds(50)));
    return true;
  }

 private:
  TimePoint deadline_;
  Duration pause_ = std::chrono::milliseconds(1);
};

}  // namespace

class FileStore::Lock {
 public:
  // By polling: a lock that is waited for in the kernel has no deadline.
  static Result<Lock> take(const FileStore& store, std::string_view key, TimePoint deadline) {
    ISTHMUS_RETURN_IF_ERROR(store.fork_guard_.check("the file store"));
    Backoff backoff(deadline);
    while (::flock(store.file_.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      if (errno != EWOULDBLOCK) return unavailable("{}: cannot be locked: {}", store.path_, errno_message(errno));
      if (!backoff.sleep()) {
        return deadline_exceeded("{}: another process kept the lock while key \"{}\" was to be written", store.path_,
                                 key);
      }
    }
    return Lock(store.file_.get());
  }
  Lock(Lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Lock& operator=(Lock&&) = delete;
  ~Lock() {
    if (fd_ >= 0) ::flock(fd_, LOCK_UN);
  }

 private:
  explicit Lock(int fd) : fd_(fd) {}
  int fd_;
};

Result<std::unique_ptr<FileStore>> FileStore::open(const std::string& path) {
  Fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.valid()) return invalid_argument("the store file {} cannot be opened: {}", path, errno_message(errno));
  std::unique_ptr<FileStore> store(new FileStore(path, std::move(file)));
  ISTHMUS_RETURN_IF_ERROR(store->refresh());
  return store;
}

Status FileStore::refresh() {
  struct stat info{};
  if (::fstat(file_.get(), &info) != 0) return unavailable("{}: {}", path_, errno_message(errno));
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size <= read_bytes_) return Status();
  std::string bytes(size - read_bytes_, '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t count =
        ::pread(file_.get(), bytes.data() + filled, bytes.size() - filled, static_cast<off_t>(read_bytes_ + filled));
    if (count == 0) break;  // a torn record was cut off meanwhile
    if (count < 0 && errno != EINTR) return unavailable("{}: cannot be read: {}", path_, errno_message(errno));
    if (count > 0) filled += static_cast<std::size_t>(count);
  }
  bytes.resize(filled);
  std::size_t used = 0;
  ISTHMUS_RETURN_IF_ERROR(apply(bytes, &used));
  read_bytes_ += used;
  return Status();
}

Status FileStore::apply(std::string_view bytes, std::size_t* used) {
  if (read_bytes_ == 0) {
    if (!kMagic.starts_with(bytes.substr(0, kMagic.size()))) {
      return invalid_argument("{} is no store of Isthmus: it is not overwritten", path_);
    }
    if (bytes.size() < kMagic.size()) return Status();
    *used = kMagic.size();
  }
  while (bytes.size() - *used >= kHeadBytes) {
    ByteReader head(as_bytes(bytes.substr(*used, kHeadBytes)));
    const std::size_t length = head.get<std::uint32_t>();
    const auto sum = head.get<std::uint32_t>();
    const std::string_view body = bytes.substr(*used + kHeadBytes, length);
    if (body.size() < length || checksum(body) != sum) return Status();
    ByteReader reader(as_bytes(body));
    const char kind = static_cast<char>(reader.get<std::uint8_t>());
    const std::string_view key = reader.get_text(), value = reader.get_text();
    if (!reader.at_end() || (kind != kSet && kind != kRemove)) return corruption("{}: a record is malformed", path_);
    if (kind == kSet) table_.set(key, value);
    if (kind == kRemove) table_.remove(key);
    *used += kHeadBytes + length;
  }
  return Status();
}

Status FileStore::write_at(std::string_view bytes, std::size_t offset) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno != EINTR) return unavailable("{}: cannot be written: {}", path_, errno_message(errno));
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
      offset += static_cast<std::size_t>(count);
    }
  }
  return Status();
}

// Under the lock, after refresh(): whatever lies behind read_bytes_ was left by a writer that died.
Status FileStore::append(char kind, std::string_view key, std::string_view value) {
  if (::ftruncate(file_.get(), static_cast<off_t>(read_bytes_)) != 0) {
    return unavailable("{}: cannot be written: {}", path_, errno_message(errno));
  }
  const std::string record = make_record(kind, key, value);
  const std::string bytes = read_bytes_ == 0 ? std::string(kMagic) + record : record;
  ISTHMUS_RETURN_IF_ERROR(write_at(bytes, read_bytes_));
  return refresh();
}

Status FileStore::set(std::string_view key, std::string_view value, TimePoint deadline) {
  ISTHMUS_ASSIGN_OR_RETURN(const Lock lock, Lock::take(*this, key, deadline));
  ISTHMUS_RETURN_IF_ERROR(refresh());
  return append(kSet, key, value);
}

Result<std::string> FileStore::get(std::string_view key, TimePoint deadline) {
  ISTHMUS_RETURN_IF_ERROR(fork_guard_.check("the file store"));
  Backoff backoff(deadline);
  while (true) {
    ISTHMUS_RETURN_IF_ERROR(refresh());
    if (const std::string* value = table_.find(key); value != nullptr) return *value;
    if (!backoff.sleep()) return deadline_exceeded("no key \"{}\" was set in {} in time", key, path_);
  }
}

Result<bool> FileStore::contains(std::string_view key, TimePoint) {
  ISTHMUS_RETURN_IF_ERROR(fork_guard_.check("the file store"));
  ISTHMUS_RETURN_IF_ERROR(refresh());
  return table_.find(key) != nullptr;
}

Result<std::int64_t> FileStore::add(std::string_view key, std::int64_t delta, TimePoint deadline) {
  ISTHMUS_ASSIGN_OR_RETURN(const Lock lock, Lock::take(*this, key, deadline));
  ISTHMUS_RETURN_IF_ERROR(refresh());
  ISTHMUS_ASSIGN_OR_RETURN(const std::int64_t sum, table_.sum(key, delta));
  ISTHMUS_RETURN_IF_ERROR(append(kSet, key, fmt::format("{}", sum)));
  return sum;
}

Status FileStore::remove(std::string_view key, TimePoint deadline) {
  ISTHMUS_ASSIGN_OR_RETURN(const Lock lock, Lock::take(*this, key, deadline));
  ISTHMUS_RETURN_IF_ERROR(refresh());
  return append(kRemove, key, "");
}

Result<std::unique_ptr<Store>> FileStore::clone() {
  ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<FileStore> store, open(path_));
  return std::unique_ptr<Store>(std::move(store));
}

}  // namespace isthmus
