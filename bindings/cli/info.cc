#include "bindings/cli/info.h"

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "bindings/cli/command.h"
#include "runtime/base/dtype.h"
#include "runtime/bootstrap/process_info.h"
#include "runtime/config/environment.h"
#include "runtime/config/option_list.h"
#include "runtime/device/reduce.h"
#include "runtime/transport/factory.h"

namespace isthmus::cli {
namespace {

std::string reductions_as_text() {
  std::string text;
  for (int type = 0; type < kDataTypeCount; ++type) {
    text += fmt::format("  {:<6}", dtype_name(static_cast<DataType>(type)));
    for (int op = 0; op < kReduceOpCount; ++op) {
      const bool can = check_reducible(static_cast<DataType>(type), static_cast<ReduceOp>(op)).ok();
      text += fmt::format(" {}", can ? reduce_op_name(static_cast<ReduceOp>(op)) : "-");
    }
    text += "\n";
  }
  return text;
}

void print_summary() {
  fmt::print("isthmus {}, protocol version {}\n\nTransports\n", ISTHMUS_VERSION, kProtocolVersion);
  for (std::string_view name : transport_names()) {
    const auto transport = make_transport(name);
    fmt::print("  {} {}\n", name,
               transport.ok() ? (*transport)->capabilities().library_version : transport.status().to_string());
  }
  fmt::print("\nReductions\n{}\n`isthmus info --options` prints the options.\n", reductions_as_text());
}

}  // namespace

int run_info(std::span<char*> arguments) {
  const std::string_view word = arguments.size() > 1 ? arguments[1] : "";
  if (arguments.size() > 2 || (!word.empty() && word != "--options" && word != "--options=markdown")) {
    fmt::print(stderr, "Usage: isthmus info [--options[=markdown]]\n");
    return word == "--help" ? 0 : kUsageError;
  }
  if (word == "--options=markdown") {
    fmt::print("{}", options_as_markdown());
    return 0;
  }
  const auto values = options_from_environment(Options());
  if (!values.ok()) {
    fmt::print(stderr, "isthmus info: {}\n", values.status().to_string());
    return 1;
  }
  if (word == "--options")
    fmt::print("{}", options_as_text(*values));
  else
    print_summary();
  return 0;
}

}  // namespace isthmus::cli
