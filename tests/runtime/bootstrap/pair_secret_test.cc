#include "runtime/bootstrap/pair_secret.h"

#include <gtest/gtest.h>

#include "runtime/control/memory_control.h"
#include "tests/runtime/control/stream_pair.h"

namespace isthmus {
namespace {

std::optional<Key> exported(int connection) {
  Key key{};
  key[0] = static_cast<std::byte>(connection);
  return key;
}

// One connection: the hello is heard; the welcome is, too, if `arrives`.
void greet(PairSecret& dialler, PairSecret& acceptor, int connection, bool arrives) {
  const Result<std::string> welcome = acceptor.answer_hello(dialler.hello(), exported(connection));
  ASSERT_TRUE(welcome.ok()) << welcome.status().to_string();
  if (!arrives) return;
  const Status status = dialler.take_welcome(*welcome, exported(connection));
  EXPECT_TRUE(status.ok()) << status.to_string();
}

TEST(PairSecretTest, IsThatOfTheFirstConnectionForEver) {
  PairSecret dialler, acceptor;
  EXPECT_FALSE(dialler.key().has_value());
  greet(dialler, acceptor, 1, true);
  EXPECT_EQ(dialler.key(), exported(1));
  for (int connection = 2; connection < 5; ++connection) {
    greet(dialler, acceptor, connection, connection != 3);
    EXPECT_EQ(dialler.key(), exported(1));
    EXPECT_EQ(acceptor.key(), exported(1));
  }
}

// Every way in which the welcomes of six connections can be lost ends with one secret at both ends.
TEST(PairSecretTest, LostWelcomesDoNotDivideThePair) {
  for (int lost = 0; lost < 64; ++lost) {
    PairSecret dialler, acceptor;
    for (int i = 0; i < 6; ++i) greet(dialler, acceptor, i + 1, (lost >> i & 1) == 0);
    greet(dialler, acceptor, 7, true);
    EXPECT_EQ(dialler.key(), exported(1)) << lost;
    EXPECT_EQ(acceptor.key(), exported(1)) << lost;
  }
}

// The second hello was said before the first welcome came.
TEST(PairSecretTest, HellosMayOvertakeWelcomes) {
  PairSecret dialler, acceptor;
  const std::string first_hello = dialler.hello(), second_hello = dialler.hello();
  const std::string first = *acceptor.answer_hello(first_hello, exported(1));
  const std::string second = *acceptor.answer_hello(second_hello, exported(2));
  EXPECT_TRUE(dialler.take_welcome(second, exported(2)).ok());
  EXPECT_TRUE(dialler.take_welcome(first, exported(1)).ok());
  EXPECT_EQ(dialler.key(), exported(1));
  EXPECT_EQ(acceptor.key(), exported(1));
}

TEST(PairSecretTest, AnotherSecretIsRefused) {
  PairSecret dialler, acceptor;
  greet(dialler, acceptor, 1, true);
  PairSecret stranger;
  EXPECT_EQ(stranger.answer_hello(dialler.hello(), exported(2)).status().code(), StatusCode::kCorruption);
  PairSecret imposter;
  greet(imposter, stranger, 3, true);
  EXPECT_EQ(acceptor.answer_hello(imposter.hello(), exported(4)).status().code(), StatusCode::kCorruption);
  EXPECT_EQ(dialler.take_welcome(std::string(32, 'x'), exported(5)).code(), StatusCode::kCorruption);
  EXPECT_EQ(dialler.take_welcome("short", exported(5)).code(), StatusCode::kCorruption);
  EXPECT_EQ(dialler.key(), exported(1));
}

TEST(PairSecretTest, PlainConnectionsHaveNone) {
  PairSecret dialler, acceptor;
  EXPECT_EQ(*acceptor.answer_hello(dialler.hello(), std::nullopt), "");
  EXPECT_TRUE(dialler.take_welcome("", std::nullopt).ok());
  EXPECT_FALSE(dialler.key().has_value());
  EXPECT_FALSE(acceptor.key().has_value());
}

TEST(PairSecretTest, BothIdsAndTheirRolesAreBoundIn) {
  MemoryControlNetwork network(*JobSecret::generate()), plain;
  const auto listener = std::move(network.listen("", "", 0, 0)).value();
  const testing::StreamPair pair = testing::connect_pair(network, *listener);
  const auto key = [](ControlStream& stream, ProcessId dialler, ProcessId acceptor) {
    return *PairSecret::exported(stream, dialler, acceptor);
  };
  EXPECT_EQ(key(*pair.client, 1, 2), key(*pair.server, 1, 2));
  EXPECT_NE(key(*pair.client, 1, 2), key(*pair.server, 2, 1));
  EXPECT_NE(key(*pair.client, 1, 2), key(*pair.server, 1, 3));
  const auto plain_listener = std::move(plain.listen("", "", 0, 0)).value();
  EXPECT_FALSE(key(*testing::connect_pair(plain, *plain_listener).client, 1, 2).has_value());
}

}  // namespace
}  // namespace isthmus
