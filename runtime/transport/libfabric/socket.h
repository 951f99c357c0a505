// Finds the sockets that libfabric keeps to itself among this process's descriptors, by their addresses. FI_GET_FD,
// which would hand them out, exists only from libfabric 2.2 on.
//
// Threads: any thread. A search costs O(open descriptors) system calls, so it has no place on the path of a message.
#pragma once

#include <string>

#include "runtime/transport/libfabric/address.h"

namespace isthmus {

// -1 when there is none. The descriptor belongs to libfabric.
int find_lane_socket(const FabricAddress& local, const FabricAddress& remote);
int find_listening_socket(const FabricAddress& local);

// libfabric opens its sockets inheritable; a child that outlived us would then hold our connections open.
void set_close_on_exec(int fd);

// The name of the socket's congestion control; empty when it has none.
std::string congestion_of(int fd);

}  // namespace isthmus
