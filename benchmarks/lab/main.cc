// isthmus-lab: ranks in sites that an emulated WAN joins.
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

#include "benchmarks/lab/control_client.h"
#include "benchmarks/lab/lab.h"

int main(int argc, char** argv) {
  constexpr int kLabFailed = 125;  // as env(1) and others: the program itself, not the command, has failed
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words.front() == "ctl") {
    words.erase(words.begin());
    return isthmus::lab::run_control_client(std::move(words));
  }
  const isthmus::lab::ParsedLine line = isthmus::lab::parse_command_line(words);
  if (!line.options) {
    fmt::print(line.exit_status == 0 ? stdout : stderr, "{}{}",
               line.exit_status == 0 ? "" : "isthmus-lab: ", line.text);
    return line.exit_status;
  }
  const isthmus::Result<int> status = isthmus::lab::run_lab(*line.options, environ);
  if (status.ok()) return *status;
  fmt::print(stderr, "isthmus-lab: {}\n", status.status().message());
  return kLabFailed;
}
