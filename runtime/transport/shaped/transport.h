// The shaped transport: any transport behind an emulated long line, so that delay, rate, jitter, loss and cuts become
// unit tests. A lane stays a reliable FIFO: a loss shows as the delay of a retransmission, with all behind it waiting.
//
// Outgoing messages are copied (kSent comes when the copy is made, as with a socket) and handed to the inner transport
// when they fall due; incoming events are held until they do. Opening a lane takes the delay of both directions. Shape
// both directions at one end, or the outgoing one at both.
//
// Threads: as transport.h says. Each progress() costs O(lanes).
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/base/clock.h"
#include "runtime/transport/shaped/control.h"
#include "runtime/transport/transport.h"

namespace isthmus {

// `clock` outlives the transport. Equal seeds and equal calls give equal times.
// A connect() that is delayed reports a wrong address with kLaneDown.
Result<std::unique_ptr<Transport>> make_shaped_transport(std::unique_ptr<Transport> inner,
                                                         std::shared_ptr<ShapedControl> control, const Clock& clock,
                                                         std::uint64_t seed);

}  // namespace isthmus
