#include "runtime/security/aead.h"

#include <gtest/gtest.h>

#include "tests/runtime/security/hex.h"

namespace isthmus {
namespace {

using testing::as_mutable;
using testing::to_hex;

template <typename Array>
Array counting() {
  Array array;
  for (std::size_t i = 0; i < array.size(); ++i) array[i] = static_cast<std::byte>(i);
  return array;
}

class AeadTest : public ::testing::TestWithParam<CipherKind> {
 protected:
  const Key key_ = counting<Key>();
  const Aead::Nonce nonce_ = counting<Aead::Nonce>();
  std::array<std::byte, Aead::kTagBytes> tag_{};
};

// The bytes come from another implementation (pyca/cryptography).
TEST_P(AeadTest, GoldenBytes) {
  Result<Aead> seal = Aead::create(GetParam(), Aead::Direction::kSeal, key_);
  ASSERT_TRUE(seal.ok()) << seal.status().to_string();
  std::string body = "hello";
  ASSERT_TRUE(seal->seal(nonce_, as_bytes("head"), as_mutable(body), tag_.data()).ok());
  EXPECT_EQ(to_hex(as_bytes(body)) + to_hex(tag_), GetParam() == CipherKind::kAes256Gcm
                                                       ? "2f67ba77aac343545a10e2eed0049faebba5934ae9"
                                                       : "e19e646c460811cbf982b3d4940dd43d688059b30c");
}

TEST_P(AeadTest, OpensWhatWasSealedAndNothingElse) {
  Result<Aead> seal = Aead::create(GetParam(), Aead::Direction::kSeal, key_);
  Result<Aead> open = Aead::create(GetParam(), Aead::Direction::kOpen, key_);
  for (const std::string& text : {std::string(), std::string("x"), std::string(100'000, 'y')}) {
    std::string sealed = text;
    ASSERT_TRUE(seal->seal(nonce_, as_bytes("head"), as_mutable(sealed), tag_.data()).ok());
    std::string body = sealed;
    EXPECT_EQ(open->open(nonce_, as_bytes("hea"), as_mutable(body), tag_.data()).code(), StatusCode::kCorruption);
    EXPECT_EQ(body, std::string(text.size(), '\0')) << "nothing of what is not authentic may be used";
    body = sealed;
    tag_[15] ^= std::byte{1};
    EXPECT_EQ(open->open(nonce_, as_bytes("head"), as_mutable(body), tag_.data()).code(), StatusCode::kCorruption);
    tag_[15] ^= std::byte{1};
    body = sealed;
    EXPECT_TRUE(open->open(nonce_, as_bytes("head"), as_mutable(body), tag_.data()).ok()) << "after failures, too";
    EXPECT_EQ(body, text);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, AeadTest, ::testing::Values(CipherKind::kAes256Gcm, CipherKind::kChaCha20Poly1305));

TEST(AeadPreferenceTest, IsStable) { EXPECT_EQ(preferred_cipher(), preferred_cipher()); }

}  // namespace
}  // namespace isthmus
