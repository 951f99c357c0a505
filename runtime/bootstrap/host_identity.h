// Which processes share a host, and which a network.
//
// Threads: any thread.
//
// Two processes are on one host when they can share memory and reach each other over loopback: the kernel's boot id and
// the IPC, mount and network namespaces are equal. Containers of one machine therefore count as hosts of their own, and
// so do network namespaces that stand for sites. For loopback alone the network namespace is enough.
#pragma once

#include "runtime/base/status.h"
#include "runtime/bootstrap/process_info.h"

namespace isthmus {

// Fills host_id, network_id and host_name. Where the kernel tells no boot id or namespace the ids are random: then
// nothing is taken for shared that is not.
Status fill_host_identity(ProcessInfo* info);

}  // namespace isthmus
