// Addresses of the UCX transport: "10.0.0.1:4001/AQEB...", where the listener is, and the address of its UCX worker in
// base64url.
//
// Threads: any thread.
#pragma once

#include <string>
#include <string_view>

#include "runtime/base/socket_address.h"
#include "runtime/base/status.h"

namespace isthmus {

// UCX's own are 38 to 81 bytes with TCP alone; what a peer sends is bounded by this before it is looked at.
inline constexpr std::size_t kMaxWorkerAddressBytes = 144;

struct UcxAddress {
  SocketAddress place;
  std::string worker;  // opaque bytes, 1..kMaxWorkerAddressBytes

  std::string text() const;
  // invalid_argument: not of this form.
  static Result<UcxAddress> parse(std::string_view text);
};

}  // namespace isthmus
