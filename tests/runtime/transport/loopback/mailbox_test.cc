#include "runtime/transport/loopback/mailbox.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "runtime/transport/loopback/lane.h"

namespace isthmus {
namespace {

bool readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return ::poll(&entry, 1, 0) == 1;
}

TEST(LoopbackMailbox, WakesTheSleeperThatArmed) {
  const auto mailbox = *LoopbackMailbox::create();
  EXPECT_TRUE(mailbox->arm());
  EXPECT_FALSE(readable(mailbox->wait_fd()));
  EXPECT_TRUE(mailbox->post({}));
  EXPECT_TRUE(readable(mailbox->wait_fd()));
  EXPECT_FALSE(mailbox->arm()) << "there is mail";
  LoopbackMail mail;
  EXPECT_TRUE(mailbox->take(&mail));
  EXPECT_FALSE(mailbox->take(&mail));
  EXPECT_TRUE(mailbox->arm());
  EXPECT_FALSE(readable(mailbox->wait_fd()));
}

TEST(LoopbackMailbox, ReturnsWiresThatNobodyTook) {
  const auto mailbox = *LoopbackMailbox::create();
  const auto wire = std::make_shared<LoopbackWire>(LoopbackEnd{mailbox, 1, "a"}, LoopbackEnd{mailbox, 2, "b"});
  LoopbackMail offer;
  offer.wire = wire;
  EXPECT_TRUE(mailbox->post(std::move(offer)));
  EXPECT_TRUE(mailbox->post({}));
  const auto offered = mailbox->close();
  ASSERT_EQ(offered.size(), 1u);
  EXPECT_EQ(offered[0], wire);
  EXPECT_FALSE(mailbox->post({}));
}

}  // namespace
}  // namespace isthmus
