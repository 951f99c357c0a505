// Between a running lab and `isthmus lab ctl`: one request and one answer per connection, on a Unix socket.
//
// Threads: one thread at a time.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/base/fd.h"

namespace isthmus::lab {

class ControlServer {
 public:
  using Handler = std::function<Result<std::string>(const std::vector<std::string>& words)>;

  static Result<ControlServer> listen(const std::string& path);
  int get() const { return listener_.get(); }  // readable when somebody asks

  // Answers one request. Bounded: a client that stalls is dropped after a second.
  void serve(const Handler& handler);

 private:
  explicit ControlServer(Fd listener) : listener_(std::move(listener)) {}
  Fd listener_;
};

// Asks, and waits for the answer. An error of the lab comes back as one of its category.
Result<std::string> ask_lab(const std::string& path, const std::vector<std::string>& words);

}  // namespace isthmus::lab
