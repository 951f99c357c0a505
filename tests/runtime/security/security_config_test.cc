#include "runtime/security/security_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdio>
#include <fstream>

namespace isthmus {
namespace {

using ::testing::HasSubstr;

class SecurityConfigTest : public ::testing::Test {
 protected:
  SecurityConfigTest() : text_(JobSecret::generate()->text()), path_(::testing::TempDir() + "isthmus_secret_test") {
    std::ofstream(path_) << text_ << "\n";
    ::chmod(path_.c_str(), 0600);
  }
  ~SecurityConfigTest() override { std::remove(path_.c_str()); }

  void expect_refused(const Options& options, std::string_view reason) {
    const Status status = load_security(options).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr(std::string(reason)));
    EXPECT_EQ(status.message().find(text_.substr(10, 20)), std::string::npos) << "the secret is never quoted";
  }

  const std::string text_, path_;
  Options options_;
};

TEST_F(SecurityConfigTest, WithoutASecretNothingIsSecuredAndNothingIsSwitchedOff) {
  const Result<SecurityConfig> config = load_security(options_);
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->level, SecurityLevel::kNone);
  EXPECT_FALSE(config->secret.has_value());
}

TEST_F(SecurityConfigTest, ASecretComesFromTheOptionOrTheFile) {
  options_.secret = text_;
  EXPECT_EQ(load_security(options_)->secret->text(), text_);
  EXPECT_EQ(load_security(options_)->level, SecurityLevel::kSecured);
  options_.secret.clear();
  options_.secret_file = path_;
  EXPECT_EQ(load_security(options_)->secret->text(), text_);
  options_.security = "on";
  EXPECT_EQ(load_security(options_)->level, SecurityLevel::kFull);
}

TEST_F(SecurityConfigTest, OffIsPlainEvenWithASecret) {
  options_.secret = text_;
  options_.security = "off";
  EXPECT_EQ(load_security(options_)->level, SecurityLevel::kOff);
  EXPECT_FALSE(load_security(options_)->secret.has_value());
}

TEST_F(SecurityConfigTest, OnNeedsASecret) {
  options_.security = "on";
  expect_refused(options_, "isthmus secret new");
  expect_refused(options_, "ISTHMUS_SECURITY=off");
}

TEST_F(SecurityConfigTest, TwoSecretsAreOneTooMany) {
  options_.secret = text_;
  options_.secret_file = path_;
  expect_refused(options_, "both");
}

TEST_F(SecurityConfigTest, SE03_AFileThatOthersCanReadIsRefusedNamingItsMode) {
  options_.secret_file = path_;
  for (const mode_t mode : {0640, 0604, 0620, 0601}) {
    ::chmod(path_.c_str(), mode);
    expect_refused(options_, fmt::format("{:04o}", static_cast<unsigned>(mode)));
    expect_refused(options_, path_);
  }
  ::chmod(path_.c_str(), 0400);
  EXPECT_TRUE(load_security(options_).ok());
}

TEST_F(SecurityConfigTest, WhatIsNoSecretFileIsRefused) {
  options_.secret_file = "/no/such/file";
  expect_refused(options_, "/no/such/file");
  options_.secret_file = "/dev/null";
  expect_refused(options_, "no regular file");
  options_.secret_file = path_;
  std::ofstream(path_, std::ios::app) << text_ << "\n";
  expect_refused(options_, path_);
  std::ofstream(path_, std::ios::trunc) << "\n";
  expect_refused(options_, "isthmus secret new");
}

TEST_F(SecurityConfigTest, CiphersByName) {
  EXPECT_EQ(load_security(options_)->cipher, preferred_cipher());
  options_.cipher = "aes-256-gcm";
  EXPECT_EQ(load_security(options_)->cipher, CipherKind::kAes256Gcm);
  options_.cipher = "chacha20-poly1305";
  EXPECT_EQ(load_security(options_)->cipher, CipherKind::kChaCha20Poly1305);
}

}  // namespace
}  // namespace isthmus
