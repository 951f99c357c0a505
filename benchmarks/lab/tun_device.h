// The TUN device of a site, and the addresses and routes of its network namespace.
//
// Threads: one thread at a time. Everything happens in the network namespace of the calling thread.
#pragma once

#include "runtime/base/fd.h"

namespace isthmus::lab {

// Makes wan0 with the addresses of `site` and a route to all sites, and brings it and lo up. IPv6 is left out where
// the kernel has none. The descriptor is non-blocking; one packet per read and write, at most `mtu` bytes: the kernel
// cuts large sends into packets itself.
Result<Fd> create_tun_device(int site, int mtu);

}  // namespace isthmus::lab
