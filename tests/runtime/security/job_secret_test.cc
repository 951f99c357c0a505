#include "runtime/security/job_secret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/runtime/security/hex.h"

namespace isthmus {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::to_hex;

// 32 bytes 00, 01, ...; the checksum is HKDF's of another implementation (Python's hmac).
const std::string kGolden = "isthmus_1_000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f_9a79682a";

std::string derived(const JobSecret& secret, std::string_view purpose, std::string_view salt = "") {
  std::array<std::byte, 32> key;
  EXPECT_TRUE(secret.derive(purpose, as_bytes(salt), key).ok());
  return to_hex(key);
}

void expect_refused(std::string_view text, std::string_view reason) {
  const Status status = JobSecret::parse(text).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << text;
  EXPECT_THAT(status.message(), HasSubstr(std::string(reason))) << text;
  if (text.size() > 16) {
    EXPECT_THAT(status.message(), Not(HasSubstr(std::string(text.substr(text.size() - 8))))) << "it is never quoted";
  }
}

TEST(JobSecretTest, WhatIsGeneratedReadsBack) {
  const Result<JobSecret> secret = JobSecret::generate();
  ASSERT_TRUE(secret.ok());
  const Result<JobSecret> same = JobSecret::parse(secret->text());
  ASSERT_TRUE(same.ok()) << same.status().to_string();
  EXPECT_EQ(same->text(), secret->text());
  EXPECT_EQ(derived(*same, "x"), derived(*secret, "x"));
  EXPECT_NE(JobSecret::generate()->text(), secret->text());
}

TEST(JobSecretTest, GoldenBytes) {
  const Result<JobSecret> secret = JobSecret::parse(kGolden);
  ASSERT_TRUE(secret.ok()) << secret.status().to_string();
  EXPECT_EQ(secret->text(), kGolden);
  EXPECT_EQ(derived(*secret, "example", "salt"), "bd42faff69b22b3f436f40f8c1876fcc9b41298f0aca943518e8c8dfbe351260");
}

TEST(JobSecretTest, PurposesAndSaltsGiveOtherKeys) {
  const JobSecret secret = *JobSecret::parse(kGolden);
  EXPECT_NE(derived(secret, "a"), derived(secret, "b"));
  EXPECT_NE(derived(secret, "a"), derived(secret, "a", "salt"));
}

TEST(JobSecretTest, EveryTypingErrorIsFound) {
  for (std::size_t i = 10; i < kGolden.size(); ++i) {
    std::string mistyped = kGolden;
    mistyped[i] = mistyped[i] == '7' ? '8' : '7';
    EXPECT_FALSE(JobSecret::parse(mistyped).ok()) << i;
    mistyped[i] = 'g';
    EXPECT_FALSE(JobSecret::parse(mistyped).ok()) << i;
  }
  for (std::size_t size = 0; size < kGolden.size(); ++size) {
    EXPECT_FALSE(JobSecret::parse(kGolden.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(JobSecret::parse(kGolden + " ").ok());
}

TEST(JobSecretTest, PasswordsAndShortSecretsAreRefusedWithAWayOut) {
  expect_refused("", "isthmus secret new");
  expect_refused("correct horse battery staple", "isthmus secret new");
  expect_refused("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", "isthmus secret new");
  expect_refused("isthmus_1_", "isthmus secret new");
  expect_refused("isthmus_1_0001020304050607_00112233", "64 bits, 128 to 512 are allowed");
  expect_refused("isthmus_1_" + std::string(200, '0') + "_00112233", "800 bits");
  expect_refused("isthmus_1_" + std::string(64, '0') + "_00112233", "mistyped");
}

}  // namespace
}  // namespace isthmus
