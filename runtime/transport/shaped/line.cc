#include "runtime/transport/shaped/line.h"

#include <algorithm>

namespace isthmus {

TimePoint ShapedLine::admit(std::size_t bytes, TimePoint now, const DirectionShape& shape) {
  TimePoint due = now;
  if (shape.rate_bytes_per_sec > 0) {
    const double seconds = static_cast<double>(bytes) / shape.rate_bytes_per_sec;
    free_at_ = std::max(now, free_at_) + Duration(static_cast<std::int64_t>(seconds * 1e9));
    due = free_at_;
  }
  due += shape.delay;
  if (shape.jitter > Duration(0)) {
    due += Duration(static_cast<std::int64_t>(uniform() * static_cast<double>(shape.jitter.count())));
  }
  if (shape.loss > 0 && uniform() < shape.loss) due += shape.loss_delay;
  return due;
}

double ShapedLine::uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

}  // namespace isthmus
