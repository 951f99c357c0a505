#include "runtime/transport/shaped/control.h"

namespace isthmus {

Result<std::shared_ptr<ShapedControl>> ShapedControl::create(const Shape& shape) {
  ISTHMUS_ASSIGN_OR_RETURN(WakeFd wake, WakeFd::create());
  return std::shared_ptr<ShapedControl>(new ShapedControl(std::move(wake), shape));
}

template <typename Change>
void ShapedControl::apply(Change change) {
  {
    std::lock_guard lock(mutex_);
    change(state_);
    version_.fetch_add(1, std::memory_order_release);
  }
  wake_.signal();
}

void ShapedControl::set_shape(const Shape& shape) {
  apply([&shape](ShapedState& state) { state.shape = shape; });
}

void ShapedControl::cut() {
  apply([](ShapedState& state) { state.cut = true; });
}

void ShapedControl::heal(Duration stall) {
  apply([stall](ShapedState& state) {
    state.cut = false;
    state.stall = stall;
    ++state.heals;
  });
}

void ShapedControl::reset_lanes() {
  apply([](ShapedState& state) { ++state.resets; });
}

void ShapedControl::wake() {
  apply([](ShapedState&) {});
}

ShapedState ShapedControl::state() const {
  std::lock_guard lock(mutex_);
  return state_;
}

}  // namespace isthmus
