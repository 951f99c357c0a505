// Puts "[a.r3] " before every line of a rank's output.
//
// Threads: one thread at a time.
#pragma once

#include <string>
#include <string_view>

namespace isthmus::lab {

class LinePrefixer {
 public:
  explicit LinePrefixer(std::string prefix) : prefix_(std::move(prefix)) {}

  // Whole lines so far, each with the prefix; the rest waits. A line of more than 64 KiB is given out in parts.
  std::string feed(std::string_view bytes);

  // What waits, as a line of its own; empty if nothing does.
  std::string flush();

 private:
  std::string prefix_;
  std::string waiting_;
};

}  // namespace isthmus::lab
