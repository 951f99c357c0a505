// Which addresses a process binds and tells its peers.
//
// Threads: any thread.
//
// All on one host: loopback and nothing else, so that nothing is reachable from outside. Otherwise the addresses from
// which this host reaches its peers, or what the option wan_interface selects; never loopback, and never what the own
// host name resolves to (Debian maps it to 127.0.1.1).
#pragma once

#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/bootstrap/group.h"
#include "runtime/config/options.h"

namespace isthmus {

struct InterfaceAddress {
  std::string interface;
  std::string host;  // numeric
  bool is_loopback = false;
};

// Of the interfaces that are up, without link-local ones; IPv4 first.
Result<std::vector<InterfaceAddress>> interface_addresses();

// Those that a selection (names, name prefixes ending in *, addresses, CIDRs; comma separated) picks; what follows a ^
// is taken away again, and a selection of such entries alone begins with everything but loopback. Loopback only if it
// is asked for by its name. invalid_argument: an entry that picks nothing, or nothing is left; the message lists what
// there is.
Result<std::vector<std::string>> select_addresses(const std::vector<InterfaceAddress>& all, std::string_view selection);

// Where peers may reach this process, before it listens.
Result<std::vector<std::string>> candidate_hosts(const Options& options);

// unavailable: peers are remote and there is no route to any of them except loopback.
Result<std::vector<std::string>> choose_bind_hosts(const BindRequest& request, const Options& options);

}  // namespace isthmus
