#include "runtime/link/greeting.h"

#include <gtest/gtest.h>

#include "runtime/transport/transport.h"
#include "tests/runtime/security/hex.h"

namespace isthmus {
namespace {

using testing::to_hex;

constexpr LaneGreeting kSample{5, 9, 0x0102030405060708, 1, 3, 2};

LinkKeys make_keys(std::byte first = std::byte{0}) {
  LinkKeys keys;
  for (std::size_t i = 0; i < keys.secret.size(); ++i) keys.secret[i] = static_cast<std::byte>(i);
  keys.secret[0] = first;
  return keys;
}

// The code was computed by Python's hmac.
TEST(Greeting, GoldenBytes) {
  const std::string plain = "4949535401000000050000000000000009000000000000000807060504030201010000000300000002000000";
  EXPECT_EQ(to_hex(as_bytes(encode_greeting(kSample, std::nullopt))), plain + std::string(32, '0'));
  EXPECT_EQ(to_hex(as_bytes(encode_greeting(kSample, make_keys()))), plain + "d24479bbc3955c76a15f4752a9ccf457");
  EXPECT_LE(encode_greeting(kSample, make_keys()).size(), kMaxGreetingBytes);
}

TEST(Greeting, RoundTrip) {
  const Result<ReceivedGreeting> received = decode_greeting(encode_greeting(kSample, make_keys()));
  ASSERT_TRUE(received.ok()) << received.status().to_string();
  const LaneGreeting& greeting = (*received).greeting;
  EXPECT_EQ(greeting.from, 5u);
  EXPECT_EQ(greeting.to, 9u);
  EXPECT_EQ(greeting.session, 0x0102030405060708u);
  EXPECT_EQ(greeting.epoch, 1u);
  EXPECT_EQ(greeting.serial, 3u);
  EXPECT_EQ(greeting.first_kept, 2u);
  EXPECT_TRUE((*received).authenticate(make_keys()).ok());
}

TEST(Greeting, OnlyTheRightCodeIsAuthentic) {
  const ReceivedGreeting sealed = decode_greeting(encode_greeting(kSample, make_keys())).value();
  const ReceivedGreeting plain = decode_greeting(encode_greeting(kSample, std::nullopt)).value();
  EXPECT_TRUE(plain.authenticate(std::nullopt).ok());
  EXPECT_EQ(plain.authenticate(make_keys()).code(), StatusCode::kCorruption);
  EXPECT_EQ(sealed.authenticate(std::nullopt).code(), StatusCode::kCorruption);
  EXPECT_EQ(sealed.authenticate(make_keys(std::byte{1})).code(), StatusCode::kCorruption);
}

TEST(Greeting, EveryChangedBitIsFound) {
  const std::string good = encode_greeting(kSample, make_keys());
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    const Result<ReceivedGreeting> received = decode_greeting(bad);
    EXPECT_FALSE(received.ok() && (*received).authenticate(make_keys()).ok()) << bit;
  }
}

TEST(Greeting, AReflectedOneIsNotAuthentic) {
  const std::string sent = encode_greeting(kSample, make_keys());
  const std::string reversed = encode_greeting({9, 5, kSample.session, 1, 3, 2}, make_keys());
  const std::string forged = reversed.substr(0, 44) + sent.substr(44);
  EXPECT_FALSE(decode_greeting(forged).value().authenticate(make_keys()).ok());
}

// MX-01: whoever reads the log learns which side has what.
TEST(Greeting, AnotherVersionIsRefusedAndBothAreNamed) {
  std::string bytes = encode_greeting(kSample, std::nullopt);
  bytes[4] = 2;
  const Status status = decode_greeting(bytes).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_NE(status.message().find("version 2"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("this side 1"), std::string::npos) << status.message();
}

TEST(Greeting, TheMalformedIsRefused) {
  const std::string good = encode_greeting(kSample, std::nullopt);
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_FALSE(decode_greeting(std::string_view(good).substr(0, length)).ok()) << length;
  EXPECT_FALSE(decode_greeting(good + "x").ok());
  const LaneGreeting bad[] = {{0, 9, 1, 1, 3, 2}, {5, 9, 0, 1, 3, 2}, {5, 9, 1, 1, 0, 0}, {5, 9, 1, 1, 3, 4}};
  for (const LaneGreeting& greeting : bad)
    EXPECT_EQ(decode_greeting(encode_greeting(greeting, std::nullopt)).status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace isthmus
