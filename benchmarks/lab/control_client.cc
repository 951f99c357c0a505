#include "benchmarks/lab/control_client.h"

#include <cstdio>

#include "benchmarks/lab/control_command.h"
#include "benchmarks/lab/control_socket.h"
#include "benchmarks/lab/run_directory.h"

namespace isthmus::lab {
namespace {

constexpr int kFailed = 1;
constexpr int kUsageError = 2;

std::string usage() {
  return fmt::format(
      "Usage: isthmus lab ctl [--name NAME] COMMAND [ARGUMENTS]\n\nSpeaks to a running lab; --name chooses one when "
      "several run. SITE, A and B are names of sites, or all.\n\n{}  {:<26} the labs that run\n",
      control_usage(), "list");
}

Result<std::string> choose_run(const std::string& base, const std::string& wanted) {
  const std::vector<std::string> runs = living_runs(base);
  if (!wanted.empty()) {
    for (const std::string& run : runs) {
      if (run == wanted) return run;
    }
    return unavailable("no lab named '{}' is running; running: {}", wanted,
                       runs.empty() ? "none" : fmt::format("{}", fmt::join(runs, ", ")));
  }
  if (runs.empty()) return unavailable("no lab of this user is running");
  if (runs.size() > 1)
    return invalid_argument("several labs are running; choose with --name: {}", fmt::join(runs, ", "));
  return runs.front();
}

Result<std::string> ask(const std::string& name, const std::vector<std::string>& words) {
  ISTHMUS_ASSIGN_OR_RETURN(const std::string base, base_directory());
  if (words.front() == "list") {
    std::string out;
    for (const std::string& run : living_runs(base)) out += run + "\n";
    return out;
  }
  ISTHMUS_ASSIGN_OR_RETURN(const std::string run, choose_run(base, name));
  return ask_lab(fmt::format("{}/{}/ctl", base, run), words);
}

}  // namespace

int run_control_client(std::vector<std::string> words) {
  std::string name;
  if (!words.empty() && words.front().starts_with("--name=")) {
    name = words.front().substr(7);
    words.erase(words.begin());
  } else if (words.size() >= 2 && words.front() == "--name") {
    name = words[1];
    words.erase(words.begin(), words.begin() + 2);
  }
  if (words.empty() || words.front() == "--help" || words.front() == "-h" || words.front() == "help") {
    fmt::print(words.empty() ? stderr : stdout, "{}", usage());
    return words.empty() ? kUsageError : 0;
  }
  const Result<std::string> answer = ask(name, words);
  if (answer.ok()) {
    fmt::print("{}", *answer);
    return 0;
  }
  fmt::print(stderr, "isthmus lab ctl: {}\n", answer.status().message());
  return kFailed;
}

}  // namespace isthmus::lab
