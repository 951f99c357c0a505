// FileStore: a store in one file that all processes can open (on a shared file system, where they are on several
// hosts).
//
// Threads: one thread at a time per object; clones and other processes work on the same file at the same time.
//
// The file is a log. It begins with 16 bytes of magic; each record is a u32 length, a u32 checksum and a body, and says
// that a key now has a value, or none. Writers append under flock(2), which the kernel lifts when a writer dies; a
// record that a dying writer left incomplete is cut off by the next one. Readers take no lock: a record whose length or
// checksum does not hold yet is not there yet. Waiting is polling, every 1 to 50 ms. A file serves one job: keys of an
// earlier one would be found again.
#pragma once

#include <memory>
#include <string>

#include "runtime/base/fd.h"
#include "runtime/base/fork_guard.h"
#include "runtime/bootstrap/key_table.h"
#include "runtime/bootstrap/store.h"

namespace isthmus {

class FileStore final : public Store {
 public:
  // Makes the file if it is not there. invalid_argument: it cannot be opened, or is something else.
  static Result<std::unique_ptr<FileStore>> open(const std::string& path);

  Status set(std::string_view key, std::string_view value, TimePoint deadline) override;
  Result<std::string> get(std::string_view key, TimePoint deadline) override;
  Result<bool> contains(std::string_view key, TimePoint deadline) override;
  Result<std::int64_t> add(std::string_view key, std::int64_t delta, TimePoint deadline) override;
  Status remove(std::string_view key, TimePoint deadline) override;
  Result<std::unique_ptr<Store>> clone() override;

 private:
  class Lock;
  FileStore(std::string path, Fd file) : path_(std::move(path)), file_(std::move(file)) {}

  // Takes up the whole records behind read_bytes_.
  Status refresh();
  Status apply(std::string_view records, std::size_t* used);
  Status append(char kind, std::string_view key, std::string_view value);
  Status write_at(std::string_view bytes, std::size_t offset);

  ForkGuard fork_guard_;
  std::string path_;
  Fd file_;
  KeyTable table_;
  std::size_t read_bytes_ = 0;
};

}  // namespace isthmus
