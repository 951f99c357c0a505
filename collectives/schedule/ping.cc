#include "collectives/schedule/ping.h"

#include "collectives/schedule/builder.h"

namespace isthmus {

Schedule build_ping(int peer, bool starts) {
  ScheduleBuilder builder(DataType::kUInt8, ReduceOp::kSum);
  const Region there = builder.allocate_scratch(1), back = builder.allocate_scratch(1);
  if (starts) {
    builder.send(peer, 0, there, 1, {});
    builder.receive(peer, 1, back, 1, {});
  } else {
    const StepIndex received = builder.receive(peer, 0, there, 1, {});
    builder.send(peer, 1, back, 1, After(received));
  }
  return builder.take();
}

}  // namespace isthmus
