#include "runtime/security/link_cipher.h"

#include <gtest/gtest.h>

#include "tests/runtime/security/hex.h"

namespace isthmus {
namespace {

using testing::as_mutable;
using testing::to_hex;
using Numbering = LinkCipher::Numbering;

constexpr ProcessId kAlice = 0x1122334455667788, kBob = 0x99aabbccddeeff00;
constexpr std::uint64_t kSession = 0x0123456789abcdef, kPerGeneration = LinkCipher::kNumbersPerGeneration;

Key counting_secret() {
  Key secret;
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(i);
  return secret;
}

std::unique_ptr<LinkCipher> make(CipherKind kind, ProcessId self, ProcessId peer, std::uint64_t session = kSession,
                                 const Key& secret = counting_secret()) {
  Result<std::unique_ptr<LinkCipher>> cipher = LinkCipher::create(kind, secret, self, peer, session);
  EXPECT_TRUE(cipher.ok()) << cipher.status().to_string();
  return std::move(cipher).value();
}

struct Sealed {
  Numbering numbering;
  std::uint64_t number;
  std::string body;
  std::array<std::byte, LinkCipher::kTagBytes> tag;
};

Sealed seal(LinkCipher& cipher, Numbering numbering, std::uint64_t number, std::string text = "gradient") {
  Sealed sealed{numbering, number, std::move(text), {}};
  const Status status = cipher.seal(numbering, number, as_bytes("header"), as_mutable(sealed.body), sealed.tag.data());
  EXPECT_TRUE(status.ok()) << status.to_string();
  return sealed;
}

Status open(LinkCipher& cipher, Sealed sealed, std::string_view header = "header") {
  Status status =
      cipher.open(sealed.numbering, sealed.number, as_bytes(header), as_mutable(sealed.body), sealed.tag.data());
  if (status.ok()) {
    EXPECT_EQ(sealed.body, "gradient");
  }
  return status;
}

class LinkCipherTest : public ::testing::TestWithParam<CipherKind> {
 protected:
  std::unique_ptr<LinkCipher> alice_ = make(GetParam(), kAlice, kBob), bob_ = make(GetParam(), kBob, kAlice);
};

// Derived and sealed by another implementation (Python's hmac, pyca/cryptography).
TEST_P(LinkCipherTest, GoldenBytes) {
  const bool aes = GetParam() == CipherKind::kAes256Gcm;
  const Sealed segment = seal(*alice_, Numbering::kSegment, 7);
  EXPECT_EQ(
      to_hex(as_bytes(segment.body)) + to_hex(segment.tag),
      aes ? "6c9522b4379c56e6e79b3dabe3f38b80d71d57adb216641b" : "495ea9b94ff3bb6b054c4df91424f052cd0bf938f06c7183");
  const Sealed acknowledgement = seal(*alice_, Numbering::kAcknowledgement, kPerGeneration + 5);
  EXPECT_EQ(
      to_hex(as_bytes(acknowledgement.body)) + to_hex(acknowledgement.tag),
      aes ? "0915b0f919d70ef1374782f212a248fd204beb85308e4287" : "25981cb17f9d4fe37b7fef7b5162074a6b9f17b6e2098f94");
}

TEST_P(LinkCipherTest, OpensBothDirectionsInAnyOrderAndAgain) {
  const Sealed first = seal(*alice_, Numbering::kSegment, 1), second = seal(*alice_, Numbering::kSegment, 2);
  EXPECT_TRUE(open(*bob_, second).ok());
  EXPECT_TRUE(open(*bob_, first).ok());
  EXPECT_TRUE(open(*bob_, first).ok()) << "duplicates are for the receiver's window";
  EXPECT_TRUE(open(*alice_, seal(*bob_, Numbering::kSegment, 1)).ok());
  EXPECT_TRUE(open(*alice_, seal(*bob_, Numbering::kAcknowledgement, 1)).ok());
}

TEST_P(LinkCipherTest, EveryBitIsAuthenticated) {
  const Sealed good = seal(*alice_, Numbering::kSegment, 1);
  for (std::size_t bit = 0; bit < good.body.size() * 8; ++bit) {
    Sealed bad = good;
    bad.body[bit / 8] = static_cast<char>(bad.body[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(open(*bob_, bad).code(), StatusCode::kCorruption) << bit;
  }
  for (std::size_t bit = 0; bit < good.tag.size() * 8; ++bit) {
    Sealed bad = good;
    bad.tag[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_EQ(open(*bob_, bad).code(), StatusCode::kCorruption) << bit;
  }
  EXPECT_EQ(open(*bob_, good, "Header").code(), StatusCode::kCorruption);
  Sealed bad = good;
  bad.number = 2;
  EXPECT_EQ(open(*bob_, bad).code(), StatusCode::kCorruption);
  bad = good;
  bad.numbering = Numbering::kAcknowledgement;
  EXPECT_EQ(open(*bob_, bad).code(), StatusCode::kCorruption);
  EXPECT_TRUE(open(*bob_, good).ok());
}

TEST_P(LinkCipherTest, NothingOpensUnderAnotherKey) {
  const Sealed sealed = seal(*alice_, Numbering::kSegment, 1);
  EXPECT_EQ(open(*alice_, sealed).code(), StatusCode::kCorruption) << "reflected";
  EXPECT_EQ(open(*make(GetParam(), kBob, kAlice, kSession + 1), sealed).code(), StatusCode::kCorruption) << "session";
  EXPECT_EQ(open(*make(GetParam(), kBob, kAlice + 1), sealed).code(), StatusCode::kCorruption) << "sender";
  EXPECT_EQ(open(*make(GetParam(), kBob + 1, kAlice), sealed).code(), StatusCode::kCorruption) << "receiver";
  Key secret = counting_secret();
  secret[31] ^= std::byte{1};
  EXPECT_EQ(open(*make(GetParam(), kBob, kAlice, kSession, secret), sealed).code(), StatusCode::kCorruption);
  const CipherKind other =
      GetParam() == CipherKind::kAes256Gcm ? CipherKind::kChaCha20Poly1305 : CipherKind::kAes256Gcm;
  EXPECT_EQ(open(*make(other, kBob, kAlice), sealed).code(), StatusCode::kCorruption) << "cipher";
}

TEST_P(LinkCipherTest, AKeyChangesMidStreamAndTheOneBeforeStillOpens) {
  const Sealed last = seal(*alice_, Numbering::kSegment, kPerGeneration - 1);
  const Sealed first = seal(*alice_, Numbering::kSegment, kPerGeneration);
  EXPECT_EQ(LinkCipher::generation_of(last.number), 1u);
  EXPECT_EQ(LinkCipher::generation_of(first.number), 2u);
  EXPECT_TRUE(open(*bob_, first).ok());
  EXPECT_TRUE(open(*bob_, last).ok());
  EXPECT_TRUE(open(*bob_, seal(*alice_, Numbering::kSegment, 2 * kPerGeneration)).ok());
  EXPECT_EQ(open(*bob_, last).code(), StatusCode::kCorruption) << "two generations back";
  EXPECT_TRUE(open(*bob_, first).ok());
}

TEST_P(LinkCipherTest, AGenerationTooFarAheadIsRefusedUntilTheOneBetweenWasAuthentic) {
  Sealed forged = seal(*alice_, Numbering::kSegment, 1);
  const Sealed next = seal(*alice_, Numbering::kSegment, kPerGeneration);
  const Sealed far = seal(*alice_, Numbering::kSegment, 2 * kPerGeneration);
  EXPECT_EQ(open(*bob_, far).code(), StatusCode::kCorruption);
  forged.number = kPerGeneration + 1;
  EXPECT_EQ(open(*bob_, forged).code(), StatusCode::kCorruption);
  EXPECT_EQ(open(*bob_, far).code(), StatusCode::kCorruption) << "what is forged moves nothing";
  EXPECT_TRUE(open(*bob_, next).ok());
  EXPECT_TRUE(open(*bob_, far).ok());
}

TEST_P(LinkCipherTest, ANumberIsSealedOnce) {
  seal(*alice_, Numbering::kSegment, 5);
  std::string body = "other";
  std::array<std::byte, LinkCipher::kTagBytes> tag;
  EXPECT_EQ(alice_->seal(Numbering::kSegment, 5, {}, as_mutable(body), tag.data()).code(), StatusCode::kInternal);
  EXPECT_EQ(alice_->seal(Numbering::kSegment, 4, {}, as_mutable(body), tag.data()).code(), StatusCode::kInternal);
  EXPECT_EQ(body, "other");
  seal(*alice_, Numbering::kSegment, 7);
  seal(*alice_, Numbering::kAcknowledgement, 5);
}

INSTANTIATE_TEST_SUITE_P(Kinds, LinkCipherTest,
                         ::testing::Values(CipherKind::kAes256Gcm, CipherKind::kChaCha20Poly1305));

TEST(LinkCipherCreateTest, RefusesWhatIsNoLink) {
  const Key secret = counting_secret();
  EXPECT_EQ(LinkCipher::create(CipherKind::kAes256Gcm, ConstBytes(secret).first(31), 1, 2, 3).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(LinkCipher::create(CipherKind::kAes256Gcm, secret, 1, 1, 3).status().code(), StatusCode::kInvalidArgument);
}

TEST(GreetingMacTest, GoldenBytes) {
  EXPECT_EQ(to_hex(greeting_mac(counting_secret(), kAlice, kBob, as_bytes("greeting"))),
            "1ff9259495206e9bd5fa6d23470a1679");
}

TEST(GreetingMacTest, HoldsForOneSecretPairDirectionAndGreeting) {
  const Key secret = counting_secret();
  const auto mac = greeting_mac(secret, kAlice, kBob, as_bytes("greeting"));
  EXPECT_TRUE(check_greeting_mac(secret, kAlice, kBob, as_bytes("greeting"), mac));
  EXPECT_FALSE(check_greeting_mac(secret, kBob, kAlice, as_bytes("greeting"), mac)) << "reflected";
  EXPECT_FALSE(check_greeting_mac(secret, kAlice, kBob + 1, as_bytes("greeting"), mac));
  EXPECT_FALSE(check_greeting_mac(secret, kAlice, kBob, as_bytes("greetinG"), mac));
  EXPECT_FALSE(check_greeting_mac(secret, kAlice, kBob, as_bytes("greeting"), ConstBytes(mac).first(15)));
  EXPECT_FALSE(check_greeting_mac(Key{}, kAlice, kBob, as_bytes("greeting"), mac));
  EXPECT_FALSE(check_greeting_mac(secret, kAlice, kBob, as_bytes("greeting"), {}));
}

}  // namespace
}  // namespace isthmus
