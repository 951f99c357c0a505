// The transports that the conformance suite runs on. A new adapter joins by one more entry in adapters.cc.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "runtime/transport/transport.h"

namespace isthmus::conformance {

// Makes transports that reach each other.
using TransportSource = std::function<Result<std::unique_ptr<Transport>>()>;

struct Adapter {
  std::string name;  // as GoogleTest takes it
  std::string host;  // where listeners are bound
  std::function<TransportSource()> new_world;
  bool uses_sockets = false;
};

inline void PrintTo(const Adapter& adapter, std::ostream* out) { *out << adapter.name; }

const std::vector<Adapter>& adapters();

}  // namespace isthmus::conformance
