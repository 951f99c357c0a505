#include "runtime/link/frame_seal.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/runtime/link/sample_frame.h"
#include "tests/runtime/security/hex.h"

namespace isthmus {
namespace {

using testing::as_mutable;
using testing::to_hex;

constexpr ProcessId kAlice = 5, kBob = 9;
constexpr std::uint64_t kSession = 0x0102030405060708, kPerGeneration = LinkCipher::kNumbersPerGeneration;

std::unique_ptr<LinkCipher> make_cipher(ProcessId self, ProcessId peer, CipherKind kind = CipherKind::kAes256Gcm) {
  std::array<std::byte, LinkCipher::kSecretBytes> secret;
  for (std::size_t i = 0; i < secret.size(); ++i) secret[i] = static_cast<std::byte>(i);
  return LinkCipher::create(kind, secret, self, peer, kSession).value();
}

std::string seal(FrameSeal& seal, const FrameHeader& header = sample_header()) {
  std::string message = std::string(kFrameHeaderBytes, '\0') + "deabc" + std::string(seal.trailer_bytes(), '\0');
  const Status status = seal.seal(header, as_mutable(message));
  EXPECT_TRUE(status.ok()) << status.to_string();
  return message;
}

Status open(FrameSeal& seal, std::string message) {
  const Result<ConstBytes> frame = seal.open(as_mutable(message));
  if (!frame.ok()) return frame.status();
  EXPECT_EQ(as_text(*frame).substr(kFrameHeaderBytes), "deabc");
  return decode_frame(*frame).status();
}

// Computed by other implementations: Python's xxhash, hmac and pyca/cryptography. PROTOCOL.md shows them.
TEST(FrameSeal, GoldenBytes) {
  FrameSeal plain(nullptr);
  EXPECT_EQ(to_hex(as_bytes(seal(plain)).subspan(kFrameHeaderBytes)), "6465616263cb86cbfa825c0a9e");
  FrameSeal aes(make_cipher(kAlice, kBob));
  const std::string sealed = seal(aes);
  EXPECT_EQ(to_hex(as_bytes(sealed).subspan(20, 4)), "01000000");
  EXPECT_EQ(to_hex(as_bytes(sealed).subspan(kFrameHeaderBytes)), "91117d82cfe27067dce23deda11fe0690b474200b7");
  FrameSeal chacha(make_cipher(kAlice, kBob, CipherKind::kChaCha20Poly1305));
  EXPECT_EQ(to_hex(as_bytes(seal(chacha)).subspan(kFrameHeaderBytes)), "87a15c13b3c90ebc18857dc18631a25291fde1ac50");
}

void every_bit_and_cut_is_refused(FrameSeal& sender, FrameSeal& receiver) {
  const std::string good = seal(sender);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(open(receiver, bad).code(), StatusCode::kCorruption) << bit;
  }
  for (std::size_t length = 0; length < good.size(); ++length)
    EXPECT_EQ(open(receiver, good.substr(0, length)).code(), StatusCode::kCorruption) << length;
  EXPECT_TRUE(open(receiver, good).ok());
}

TEST(FrameSeal, EveryBitCountsWithoutASeal) {
  FrameSeal sender(nullptr), receiver(nullptr);
  every_bit_and_cut_is_refused(sender, receiver);
}

TEST(FrameSeal, EveryBitCountsUnderASeal) {
  FrameSeal sender(make_cipher(kAlice, kBob)), receiver(make_cipher(kBob, kAlice));
  every_bit_and_cut_is_refused(sender, receiver);
}

TEST(FrameSeal, AFrameDoesNotOpenAtItsSender) {
  FrameSeal sender(make_cipher(kAlice, kBob)), receiver(make_cipher(kBob, kAlice));
  const std::string frame = seal(sender);
  EXPECT_EQ(open(sender, frame).code(), StatusCode::kCorruption);
  EXPECT_TRUE(open(receiver, frame).ok());
  EXPECT_TRUE(open(receiver, frame).ok()) << "duplicates are for the receiver's window";
}

TEST(FrameSeal, SegmentsAndAcknowledgementsOfOneNumberShareNoKey) {
  FrameSeal sender(make_cipher(kAlice, kBob)), receiver(make_cipher(kBob, kAlice));
  FrameHeader header = sample_header();
  const std::string segment = seal(sender, header);
  header.type = FrameType::kAck;
  const std::string ack = seal(sender, header);
  EXPECT_NE(segment.substr(kFrameHeaderBytes), ack.substr(kFrameHeaderBytes));
  EXPECT_TRUE(open(receiver, ack).ok());
  EXPECT_TRUE(open(receiver, segment).ok());
}

TEST(FrameSeal, TheKeyChangesWithTheNumberAndTheHeaderSaysSo) {
  FrameSeal sender(make_cipher(kAlice, kBob)), receiver(make_cipher(kBob, kAlice));
  const std::string last = seal(sender, sample_header(kPerGeneration - 1));
  const std::string first = seal(sender, sample_header(kPerGeneration));
  EXPECT_EQ(decode_frame_number(as_bytes(last)).value().key_generation, 1u);
  EXPECT_EQ(decode_frame_number(as_bytes(first)).value().key_generation, 2u);
  EXPECT_TRUE(open(receiver, first).ok());
  EXPECT_TRUE(open(receiver, last).ok());
  std::string other = first;
  other[20] = 1;
  const Status status = open(receiver, other);
  EXPECT_NE(status.message().find("generation 1, not 2"), std::string::npos) << status.message();
}

TEST(FrameSeal, PlainFramesDoNotOpenOnASealedLinkNorTheReverse) {
  FrameSeal plain(nullptr), sender(make_cipher(kAlice, kBob)), receiver(make_cipher(kBob, kAlice));
  EXPECT_EQ(open(receiver, seal(plain)).code(), StatusCode::kCorruption);
  EXPECT_EQ(open(receiver, seal(plain) + std::string(8, '\0')).code(), StatusCode::kCorruption);
  EXPECT_EQ(open(plain, seal(sender)).code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace isthmus
