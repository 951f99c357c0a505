// The TCP sockets that libfabric and UCX keep to themselves: found among this process's descriptors by their addresses,
// and tuned for a lane over a long line.
//
// Threads: any thread. A search costs O(open descriptors) system calls, so it has no place on the path of a message.
//
// Neither library (as Debian packages it) sets a congestion control or a user timeout, and libfabric hands its sockets
// out only from version 2.2 on (FI_GET_FD). Buffers are left to the kernel: an explicit size would end its own tuning.
#pragma once

#include <set>
#include <string>

#include "runtime/base/socket_address.h"
#include "runtime/base/status.h"
#include "runtime/transport/transport_options.h"

namespace isthmus {

// -1 when there is none. The descriptor belongs to the library that opened it.
int find_lane_socket(const SocketAddress& local, const SocketAddress& remote);
int find_listening_socket(const SocketAddress& local);

// This process's TCP sockets at this moment: what a library opens during a call is the difference.
std::set<int> tcp_sockets();
bool is_listening(int fd);

// The one that was opened towards `remote` since `before`, even if it is not connected yet; -1: none, or not only one.
int find_dialled_socket(const std::set<int>& before, const SocketAddress& remote);

// Both libraries open sockets inheritable; a child that outlived us would then hold our connections open.
void set_close_on_exec(int fd);

// Congestion control, user timeout and keepalive. On a listening socket: what its accepted sockets start with.
Status tune_lane_socket(int fd, const TransportOptions& options);

// Both of the above for a socket that was just found; failures are logged, for a lane is better slow than absent.
void adopt_lane_socket(int fd, const TransportOptions& options);

// SO_MAX_PACING_RATE. Nothing happens when the descriptor is not (any longer) a socket with that remote end.
void limit_socket_rate(int fd, const SocketAddress& remote, double bytes_per_sec);

// Packets that TCP has sent again; 0 when the descriptor is not (any longer) a socket with that remote end.
std::uint64_t retransmissions_of(int fd, const SocketAddress& remote);

// The name of the socket's congestion control; empty when it has none.
std::string congestion_of(int fd);

}  // namespace isthmus
