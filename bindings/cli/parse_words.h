// What isthmus, isthmus-lab and isthmus-bench do alike with their command lines.
//
// Threads: any thread.
#pragma once

#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace isthmus {

inline constexpr int kUsageError = 2;

// What to print and the status to exit with, for help, version or an error.
struct UsageEnd {
  std::string text;
  int exit_status = 0;
};

// `words` without the program's name; nullopt: the options are read.
inline std::optional<UsageEnd> parse_words(CLI::App* app, std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // as CLI11 wants it
  try {
    app->parse(words);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, err;
    const int status = app->exit(error, out, err);
    return UsageEnd{out.str() + err.str(), status == 0 ? 0 : kUsageError};
  }
  return std::nullopt;
}

}  // namespace isthmus
