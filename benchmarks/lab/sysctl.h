// Kernel settings under /proc/sys. Those of net.* belong to the network namespace of the calling thread.
//
// Threads: any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace isthmus::lab {

// `name` as under /proc/sys: "net/ipv4/tcp_congestion_control". The value comes without its newline.
Result<std::string> read_sysctl(const std::string& name);
Status write_sysctl(const std::string& name, std::string_view value);

std::vector<std::string> split_words(std::string_view text);

}  // namespace isthmus::lab
