// The UCX library, loaded at first use rather than with libisthmus.
//
// Threads: any thread.
//
// Why: most machines have one of libfabric and UCX, and UCX's constructor takes over SIGSEGV, SIGBUS and others of the
// process. The dispositions are put back right after loading. The functions that the adapter calls are defined here
// under their own names, for this library alone, and forwarded.
#pragma once

#include <string>

#include "runtime/base/status.h"

namespace isthmus {

// unavailable: the library is not there; the message names the Debian package. Loads once.
Status load_ucx();

// "1.13.1". Only after load_ucx().
std::string ucx_version();

// From 1.14 on, keys of the TCP transport have their prefix: "TCP_PORT_RANGE" rather than "PORT_RANGE".
bool ucx_prefixes_transport_keys();

// While one lives, what UCX logs on this thread goes to Isthmus' log (at debug level) instead of standard output. What
// other users of UCX in the process log is left alone.
class UcxLogCapture {
 public:
  UcxLogCapture();
  ~UcxLogCapture();
  UcxLogCapture(const UcxLogCapture&) = delete;
  UcxLogCapture& operator=(const UcxLogCapture&) = delete;
};

}  // namespace isthmus
