// The congestion control of lanes: which one this process may use in its network namespace, and which one is taken.
//
// Threads: any thread of the namespace that is meant. Costs a few system calls.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "runtime/base/status.h"

namespace isthmus {

struct CongestionChoice {
  std::string name;    // "bbr"; empty: the sockets keep what the system gives them
  std::string reason;  // for `isthmus info`
};

// Tries a name on a socket: the kernel's own answer, whatever the lists say and whoever we are.
// unsupported: the message names the sysctl that lists what there is, or what this process may take.
Status try_congestion(const std::string& name);

// `wanted` is the option wan_congestion: auto, bbr, cubic, system. auto is bbr where the kernel admits it, for bbr
// keeps its rate under random loss, and else the system's. A named one that is refused is an error.
Result<CongestionChoice> choose_congestion(std::string_view wanted,
                                           const std::function<Status(const std::string&)>& attempt = try_congestion);

// Value of a setting of the network namespace, such as "tcp_congestion_control"; empty when there is none.
std::string ipv4_setting(const std::string& name);

}  // namespace isthmus
