#include "runtime/transport/loopback/lane.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

class LoopbackWireTest : public ::testing::Test {
 protected:
  int take(int side) {
    int count = 0;
    LoopbackMail mail;
    while (mailboxes_[side]->take(&mail)) {
      ++count;
      last_ = mail.event;
    }
    return count;
  }

  std::shared_ptr<LoopbackMailbox> mailboxes_[2] = {*LoopbackMailbox::create(), *LoopbackMailbox::create()};
  LoopbackWire wire_{{mailboxes_[0], 1, "loopback:1"}, {mailboxes_[1], 2, "loopback:2"}};
  TransportEvent last_;
};

TEST_F(LoopbackWireTest, BuffersABoundedNumberOfBytes) {
  std::vector<std::byte> message(kLoopbackBufferBytes / 4);
  for (std::uint64_t i = 0; i < 6; ++i) EXPECT_TRUE(wire_.send(0, message, i));
  EXPECT_EQ(take(0), 4);  // the last two wait in the sender's memory
  std::vector<std::byte> buffer(message.size());
  EXPECT_TRUE(wire_.receive(1, buffer, 9));
  EXPECT_EQ(take(0), 1);
  EXPECT_EQ(take(1), 1);
  EXPECT_EQ(last_.token, 9u);
}

TEST_F(LoopbackWireTest, BuffersALongMessageAlone) {
  const std::vector<std::byte> message(kMaxMessageBytes);
  EXPECT_TRUE(wire_.send(0, message, 1));
  EXPECT_EQ(take(0), 1);
  EXPECT_TRUE(wire_.send(0, message, 2));
  EXPECT_EQ(take(0), 0);
}

TEST_F(LoopbackWireTest, TheBufferIsACopy) {
  std::vector<std::byte> message(8, std::byte{1}), buffer(8);
  EXPECT_TRUE(wire_.send(0, message, 1));
  EXPECT_EQ(take(0), 1);
  message.assign(8, std::byte{2});
  EXPECT_TRUE(wire_.receive(1, buffer, 1));
  EXPECT_EQ(buffer, std::vector<std::byte>(8, std::byte{1}));
}

TEST_F(LoopbackWireTest, EndsOnceOnBothSides) {
  std::vector<std::byte> buffer(8);
  EXPECT_TRUE(wire_.receive(0, buffer, 1));
  EXPECT_TRUE(wire_.receive(1, buffer, 2));
  wire_.close(1, aborted("a"), Status(), unavailable("b"));
  wire_.close(0, aborted("c"), Status(), unavailable("d"));
  EXPECT_EQ(take(0), 2);
  EXPECT_EQ(last_.kind, TransportEventKind::kLaneDown);
  EXPECT_EQ(last_.status.message(), "b");
  EXPECT_EQ(take(1), 2);
  EXPECT_TRUE(last_.status.ok());
  EXPECT_FALSE(wire_.send(0, buffer, 3));
  EXPECT_FALSE(wire_.receive(1, buffer, 3));
}

}  // namespace
}  // namespace isthmus
