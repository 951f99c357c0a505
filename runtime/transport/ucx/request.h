// UcxRequest: one send or receive that UCX has in hand.
//
// Threads: the thread of the transport; UCX calls back on it, from within its own functions.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>

#include "runtime/base/bytes.h"

namespace isthmus {

// Stays at one place from post until it is no longer open.
struct UcxRequest {
  bool is_open() const { return handle != nullptr; }  // UCX still uses its buffer

  void* handle = nullptr;
  bool done = false;
  ucs_status_t status = UCS_OK;  // once done
  std::size_t bytes = 0;         // once a receive is done
};

// It may be done at once.
void post_send(ucp_ep_h endpoint, ConstBytes message, std::uint64_t tag, UcxRequest* request);
void post_receive(ucp_worker_h worker, MutableBytes buffer, std::uint64_t tag, UcxRequest* request);

// It is done then, or soon, with UCS_ERR_CANCELED or as it would have been.
void cancel(ucp_worker_h worker, UcxRequest* request);

// Drops the connection at once: what it has in hand fails. `request` is done when UCX has let go of it.
void post_close(ucp_ep_h endpoint, UcxRequest* request);

}  // namespace isthmus
