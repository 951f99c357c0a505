#include "tests/conformance/transport/adapters.h"

#ifdef ISTHMUS_HAS_LIBFABRIC
#include "runtime/transport/libfabric/transport.h"
#endif
#include "runtime/transport/loopback/transport.h"
#include "runtime/transport/shaped/transport.h"
#ifdef ISTHMUS_HAS_UCX
#include "runtime/transport/ucx/transport.h"
#endif

namespace isthmus::conformance {
namespace {

TransportSource loopback_world() {
  return [fabric = std::make_shared<LoopbackFabric>()] { return make_loopback_transport(fabric); };
}

#ifdef ISTHMUS_HAS_LIBFABRIC
TransportSource libfabric_world() {
  return [] { return make_libfabric_transport(); };
}
#endif

#ifdef ISTHMUS_HAS_UCX
TransportSource ucx_world() {
  return [] { return make_ucx_transport(); };
}
#endif

// Every transport's outgoing messages take a while, so that each event of the suite meets a line that holds it back.
TransportSource shaped_world(TransportSource inner) {
  return [inner]() -> Result<std::unique_ptr<Transport>> {
    Shape shape;
    shape.out.delay = std::chrono::microseconds(20);
    shape.out.jitter = std::chrono::microseconds(20);
    shape.out.rate_bytes_per_sec = 4e9;
    shape.in.delay = std::chrono::microseconds(10);
    ISTHMUS_ASSIGN_OR_RETURN(auto control, ShapedControl::create(shape));
    ISTHMUS_ASSIGN_OR_RETURN(auto transport, inner());
    return make_shaped_transport(std::move(transport), control, SteadyClock::instance(), 7);
  };
}

}  // namespace

const std::vector<Adapter>& adapters() {
  static const std::vector<Adapter> all = {
      {"loopback", "127.0.0.1", loopback_world, false},
      {"shaped_loopback", "127.0.0.1", [] { return shaped_world(loopback_world()); }, false},
#ifdef ISTHMUS_HAS_LIBFABRIC
      {"libfabric_ipv4", "127.0.0.1", libfabric_world, true},
      {"libfabric_ipv6", "::1", libfabric_world, true},
      {"shaped_libfabric", "127.0.0.1", [] { return shaped_world(libfabric_world()); }, true},
#endif
#ifdef ISTHMUS_HAS_UCX
      // UCX does not listen at ::1.
      {"ucx_ipv4", "127.0.0.1", ucx_world, true},
      {"shaped_ucx", "127.0.0.1", [] { return shaped_world(ucx_world()); }, true},
#endif
  };
  return all;
}

}  // namespace isthmus::conformance
