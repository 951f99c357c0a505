// Prints the option table of Isthmus as Markdown, for scripts/generate_options.
#include <cstdio>

#include "runtime/config/option_list.h"

int main() {
  const std::string page = isthmus::options_as_markdown();
  return std::fwrite(page.data(), 1, page.size(), stdout) == page.size() ? 0 : 1;
}
