// The providers of libfabric that have message endpoints here, and whether lanes can use them.
//
// Threads: any thread. load_libfabric() must have succeeded.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace isthmus {

struct LibfabricProvider {
  std::string name;                  // "tcp", "verbs"
  bool wants_registration = false;   // of every buffer (FI_MR_LOCAL), which lanes do not do
  std::vector<std::string> domains;  // "eth0", "mlx5_0"
};

std::vector<LibfabricProvider> find_libfabric_providers();

struct ProviderChoice {
  std::string name;
  std::string reason;  // for `isthmus info`
};

// unsupported: none of them will do; the message says why of each.
Result<ProviderChoice> choose_libfabric_provider(std::span<const LibfabricProvider> found);

}  // namespace isthmus
