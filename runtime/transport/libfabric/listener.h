// LibfabricListener: one passive endpoint, whose connection requests arrive in the domain's event queue.
//
// Threads: the thread of the transport.
#pragma once

#include <string>

#include "runtime/base/status.h"
#include "runtime/transport/libfabric/domain.h"
#include "runtime/transport/transport.h"
#include "runtime/transport/transport_options.h"

namespace isthmus {

class LibfabricListener {
 public:
  // Takes the first free port of the range. A greeting must fit into the connection data of the provider.
  static Result<LibfabricListener> create(const LibfabricDomain& domain, const ListenOptions& options,
                                          const TransportOptions& transport_options = {});

  // What peers dial.
  const std::string& address() const { return address_; }

 private:
  LibfabricListener(FidPtr<fid_pep> endpoint, std::string address)
      : endpoint_(std::move(endpoint)), address_(std::move(address)) {}

  FidPtr<fid_pep> endpoint_;
  std::string address_;
};

}  // namespace isthmus
