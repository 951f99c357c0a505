// Where running labs leave their traces: a directory per run, with a lock that only a living run holds.
//
// Threads: one thread at a time.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/fd.h"

namespace isthmus::lab {

// The name of the environment variable that marks the processes of a run.
inline constexpr const char* kMarkVariable = "LAB_RUN_MARK";

// /run/isthmus-lab for root, /tmp/isthmus-lab-<uid> for others. Made if missing; refused if it is another user's.
Result<std::string> base_directory();

// Holds off other labs that start or end, while it lives.
class BaseLock {
 public:
  static Result<BaseLock> take(const std::string& base);

 private:
  explicit BaseLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

class RunDirectory {
 public:
  // Needs the BaseLock. An empty `name` becomes "lab-<pid>". Refused while a run of that name lives.
  static Result<RunDirectory> create(const std::string& base, std::string name);
  RunDirectory(RunDirectory&&) = default;
  ~RunDirectory();  // removes it, in the process that made it

  const std::string& name() const { return name_; }
  const std::string& path() const { return path_; }
  std::string socket_path() const { return path_ + "/ctl"; }
  std::string mark() const;  // "LAB_RUN_MARK=...", for the environment of the ranks

 private:
  RunDirectory(std::string name, std::string path, Fd lock, std::string mark);
  std::string name_;
  std::string path_;
  Fd lock_;  // inherited by the guardian, so the run counts as living until that has ended everything
  std::string mark_;
  int owner_;
};

// The names of the runs that live.
std::vector<std::string> living_runs(const std::string& base);

// Needs the BaseLock. Kills what runs that ended without cleaning up have left, and removes their directories.
// Returns a sentence per such run.
std::vector<std::string> remove_leftovers(const std::string& base);

}  // namespace isthmus::lab
