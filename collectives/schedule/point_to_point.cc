#include "collectives/schedule/point_to_point.h"

#include "collectives/schedule/builder.h"

namespace isthmus {

Schedule build_send(int to, std::size_t bytes) {
  ScheduleBuilder builder(DataType::kUInt8, ReduceOp::kSum);
  builder.send(to, 0, {Space::kInput, 0}, bytes, {});
  return builder.take();
}

Schedule build_receive(int from, std::size_t bytes) {
  ScheduleBuilder builder(DataType::kUInt8, ReduceOp::kSum);
  builder.receive(from, 0, {Space::kOutput, 0}, bytes, {});
  return builder.take();
}

}  // namespace isthmus
