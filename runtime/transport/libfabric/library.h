// The libfabric library, loaded at first use rather than with libisthmus.
//
// Threads: any thread.
//
// Why: Debian's libfabric pulls in libinfinipath, whose constructor takes over SIGINT, SIGTERM, SIGSEGV and others of
// the process: Ctrl-C would no longer be a KeyboardInterrupt, and a SIGTERM would end in exit(1). The dispositions are
// put back right after loading. The few functions that libfabric exports are defined here under their own names, for
// this library alone, and forwarded; all others are inline calls through its objects.
#pragma once

#include "runtime/base/status.h"

namespace isthmus {

// unavailable: the library is not there; the message names the Debian package. Loads once.
Status load_libfabric();

}  // namespace isthmus
