// A file of shared memory, mapped for reading and writing.
//
// Threads: any thread may use the mapped bytes; what they mean, and who may write which, is the user's matter.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace isthmus {

class ShmMapping {
 public:
  // Creates the file `name` (mode 0600, zeros) in the open directory and maps it. Its memory is taken at once, so a
  // full file system is an error here and never a SIGBUS later. `path` is what messages call the directory.
  // unavailable: no memory left (the message names how much was asked for and how much is free), or the file exists.
  static Result<std::shared_ptr<ShmMapping>> create(int directory_fd, const std::string& path, const std::string& name,
                                                    std::size_t bytes);

  // Maps the whole of a file that another process created.
  // unavailable: there is no such file. corruption: its size is outside [least_bytes, most_bytes].
  static Result<std::shared_ptr<ShmMapping>> open(int directory_fd, const std::string& path, const std::string& name,
                                                  std::size_t least_bytes, std::size_t most_bytes);

  ShmMapping(void* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  ShmMapping(const ShmMapping&) = delete;
  ShmMapping& operator=(const ShmMapping&) = delete;
  ~ShmMapping();

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::size_t size() const { return bytes_; }

 private:
  void* data_;
  std::size_t bytes_;
};

}  // namespace isthmus
