#include "runtime/security/key_derivation.h"

#include <gtest/gtest.h>

#include "tests/runtime/security/hex.h"

namespace isthmus {
namespace {

using testing::from_hex;
using testing::to_hex;

TEST(KeyDerivationTest, HkdfGivesTheBytesOfRfc5869) {
  std::array<std::byte, 42> out;
  const std::string secret(22, '\x0b'), salt = from_hex("000102030405060708090a0b0c"),
                                        info = from_hex("f0f1f2f3f4f5f6f7f8f9");
  ASSERT_TRUE(hkdf_sha256(as_bytes(secret), as_bytes(salt), info, out).ok());
  EXPECT_EQ(to_hex(out), "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865");
  ASSERT_TRUE(hkdf_sha256(as_bytes(secret), {}, "", out).ok());
  EXPECT_EQ(to_hex(out), "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8");
}

TEST(KeyDerivationTest, HmacGivesTheBytesOfRfc4231) {
  Key mac;
  ASSERT_TRUE(hmac_sha256(as_bytes("Jefe"), as_bytes("what do ya want for nothing?"), &mac).ok());
  EXPECT_EQ(to_hex(mac), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(KeyDerivationTest, RandomBytesDiffer) {
  Key a{}, b{};
  ASSERT_TRUE(random_bytes(a).ok());
  ASSERT_TRUE(random_bytes(b).ok());
  EXPECT_NE(a, b);
}

TEST(KeyDerivationTest, EqualityLooksAtSizeAndEveryByte) {
  EXPECT_TRUE(equal_in_constant_time(as_bytes("secret"), as_bytes("secret")));
  EXPECT_FALSE(equal_in_constant_time(as_bytes("secret"), as_bytes("secreT")));
  EXPECT_FALSE(equal_in_constant_time(as_bytes("Secret"), as_bytes("secret")));
  EXPECT_FALSE(equal_in_constant_time(as_bytes("secre"), as_bytes("secret")));
}

TEST(KeyDerivationTest, ErasingLeavesZeros) {
  std::string text = "secret";
  erase_secret(testing::as_mutable(text));
  EXPECT_EQ(text, std::string(6, '\0'));
}

}  // namespace
}  // namespace isthmus
