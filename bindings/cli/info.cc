#include "bindings/cli/info.h"

#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "bindings/cli/command.h"
#include "runtime/base/dtype.h"
#include "runtime/bootstrap/process_info.h"
#include "runtime/config/environment.h"
#include "runtime/config/option_list.h"
#include "runtime/device/reducible.h"
#include "runtime/device/vector_sum.h"
#include "runtime/transport/congestion.h"
#include "runtime/transport/factory.h"

namespace isthmus::cli {
namespace {

std::string reductions_as_text() {
  std::string text;
  for (int type = 0; type < kDataTypeCount; ++type) {
    std::string operators;
    for (int op = 0; op < kReduceOpCount; ++op) {
      if (!is_reducible(static_cast<DataType>(type), static_cast<ReduceOp>(op))) continue;
      operators += fmt::format(" {}", reduce_op_name(static_cast<ReduceOp>(op)));
    }
    text += fmt::format("  {:<13}{}\n", dtype_name(static_cast<DataType>(type)),
                        operators.empty() ? " moved, not reduced" : operators);
  }
  return text;
}

// What is here, what is taken, and why.
std::string transports_as_text(const Options& options) {
  std::string text = "Transports\n";
  TransportOptions wanted;
  wanted.ucx_tls = options.ucx_tls;
  wanted.ucx_devices = options.ucx_devices;
  for (std::string_view name : transport_names()) {
    const auto transport = make_transport(name, wanted);
    text += fmt::format("  {} {}\n", name,
                        transport.ok() ? (*transport)->capabilities().library_version : transport.status().to_string());
    for (const std::string& line : transport_findings(name, wanted)) text += fmt::format("    {}\n", line);
  }
  const auto choice = choose_transport(options.transport);
  text += choice.ok() ? fmt::format("  taken: {} ({})\n", choice->name, choice->reason)
                      : fmt::format("  taken: none: {}\n", choice.status().to_string());
  return text;
}

// How fast sums are made here; their bytes are the same everywhere.
std::string kernels_as_text() {
  const std::string_view target = vector_target();
  return fmt::format("Kernels\n  sums of fp16 and bf16: {}\n",
                     target.empty() ? "plain loops (no vector kernel for this processor)" : target);
}

// What connections between sites start with, and what they fall back to after a pause.
std::string lanes_as_text(const Options& options) {
  const auto choice = choose_congestion(options.wan_congestion);
  std::string text = "Lanes\n";
  if (choice.ok()) {
    const std::string name = choice->name.empty() ? ipv4_setting("tcp_congestion_control") : choice->name;
    text += fmt::format("  congestion control: {} ({})\n", name, choice->reason);
  } else {
    text += fmt::format("  congestion control: {}\n", choice.status().to_string());
  }
  const std::string restart = ipv4_setting("tcp_slow_start_after_idle");
  text += fmt::format("  net.ipv4.tcp_slow_start_after_idle: {} ({})\n", restart.empty() ? "unknown" : restart,
                      restart == "0" ? "a lane keeps its rate over a pause"
                                     : "a lane that paused for a retransmission timeout restarts slowly");
  return text;
}

void print_summary(const Options& options) {
  fmt::print("isthmus {}, protocol version {}\n\n{}", ISTHMUS_VERSION, kProtocolVersion, transports_as_text(options));
  fmt::print("\n{}\n{}\nReductions\n{}\n`isthmus info --options` prints the options.\n", lanes_as_text(options),
             kernels_as_text(), reductions_as_text());
}

}  // namespace

int run_info(std::span<char*> arguments) {
  const std::string_view word = arguments.size() > 1 ? arguments[1] : "";
  if (word == "--options=markdown" || word == "--reductions=markdown") {
    fmt::print("{}", word == "--options=markdown" ? options_as_markdown() : reductions_as_markdown());
    return 0;
  }
  if (arguments.size() > 2 || (!word.empty() && word != "--options")) {
    fmt::print(stderr, "Usage: isthmus info [--options[=markdown] | --reductions=markdown]\n");
    return word == "--help" ? 0 : kUsageError;
  }
  const auto values = options_from_environment(Options());
  if (!values.ok()) {
    fmt::print(stderr, "isthmus info: {}\n", values.status().to_string());
    return 1;
  }
  if (word == "--options")
    fmt::print("{}", options_as_text(*values));
  else
    print_summary(*values);
  return 0;
}

}  // namespace isthmus::cli
