#include "runtime/transport/shaped/control.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace isthmus {
namespace {

TEST(ShapedControl, EachChangeIsANewVersionAndWakes) {
  const auto control = *ShapedControl::create({});
  const std::vector<void (*)(ShapedControl&)> changes = {
      [](ShapedControl& c) { c.set_shape({}); }, [](ShapedControl& c) { c.cut(); },  [](ShapedControl& c) { c.heal(); },
      [](ShapedControl& c) { c.reset_lanes(); }, [](ShapedControl& c) { c.wake(); },
  };
  for (const auto change : changes) {
    control->wake_fd().drain();
    const std::uint64_t before = control->version();
    change(*control);
    EXPECT_EQ(control->version(), before + 1);
    pollfd entry{control->wake_fd().get(), POLLIN, 0};
    EXPECT_EQ(::poll(&entry, 1, 0), 1);
  }
}

TEST(ShapedControl, KeepsWhatWasSet) {
  Shape shape;
  shape.out.delay = std::chrono::milliseconds(3);
  const auto control = *ShapedControl::create(shape);
  EXPECT_EQ(control->state().shape.out.delay, std::chrono::milliseconds(3));
  control->cut();
  EXPECT_TRUE(control->state().cut);
  control->heal(std::chrono::seconds(2));
  EXPECT_FALSE(control->state().cut);
  EXPECT_EQ(control->state().heals, 1u);
  EXPECT_EQ(control->state().stall, std::chrono::seconds(2));
  control->reset_lanes();
  EXPECT_EQ(control->state().resets, 1u);
}

}  // namespace
}  // namespace isthmus
