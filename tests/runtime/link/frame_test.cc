#include "runtime/link/frame.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/runtime/link/sample_frame.h"

namespace isthmus {
namespace {

std::string sample_message() {
  std::string message(kFrameHeaderBytes, '\0');
  encode_frame_header(sample_header(), reinterpret_cast<std::byte*>(message.data()));
  return message + "de" + "abc";
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

// The golden frame of PROTOCOL.md: a change of these bytes is a new version of the protocol.
TEST(Frame, GoldenDataFrame) {
  EXPECT_EQ(hex(sample_message()),
            "49495354"
            "01"
            "01"
            "0000"
            "0807060504030201"
            "01000000"
            "00000000"
            "0700000000000000"
            "1817161514131211"
            "0900000000000000"
            "02000000"
            "03000000"
            "05000000"
            "00"
            "02"
            "0000"
            "0400000000000000"
            "0700000000000000"
            "03000000"
            "03000000"
            "78563412"
            "00000000"
            "6465"
            "616263");
}

TEST(Frame, RoundTrip) {
  const std::string message = sample_message();
  const Result<Frame> frame = decode_frame(as_bytes(message));
  ASSERT_TRUE(frame.ok()) << frame.status().to_string();
  EXPECT_EQ((*frame).header.session, 0x0102030405060708u);
  EXPECT_EQ((*frame).header.segment, 7u);
  EXPECT_EQ((*frame).header.operation, (OperationKey{0x1112131415161718, 9, 2, 3}));
  EXPECT_EQ((*frame).header.round, 5u);
  EXPECT_EQ((*frame).header.offset, 4u);
  EXPECT_EQ((*frame).descriptor, "de");
  EXPECT_EQ(as_text((*frame).payload), "abc");
}

struct BadFrame {
  const char* name;
  std::size_t at;  // byte to change
  unsigned char value;
  const char* message;  // part of the error
};

class FrameRefused : public testing::TestWithParam<BadFrame> {};

TEST_P(FrameRefused, NamesTheField) {
  std::string message = sample_message();
  message[GetParam().at] = static_cast<char>(GetParam().value);
  const Result<Frame> frame = decode_frame(as_bytes(message));
  ASSERT_FALSE(frame.ok());
  EXPECT_EQ(frame.status().code(), StatusCode::kCorruption);
  EXPECT_NE(frame.status().message().find(GetParam().message), std::string::npos) << frame.status().message();
}

INSTANTIATE_TEST_SUITE_P(
    Fields, FrameRefused,
    testing::Values(BadFrame{"Magic", 0, 1, "starts with"}, BadFrame{"Version", 4, 2, "version 2"},
                    BadFrame{"Type", 5, 9, "type 9"}, BadFrame{"Flags", 6, 1, "reserved"},
                    BadFrame{"NoSegment", 24, 0, "segment number 0"}, BadFrame{"Round", 59, 1, "round"},
                    BadFrame{"Codec", 60, 3, "codec 3"}, BadFrame{"Descriptor", 61, 65, "descriptor of 65"},
                    BadFrame{"Offset", 64, 5, "outside its transfer"}, BadFrame{"Raw", 80, 2, "encoded and 2 raw"},
                    BadFrame{"Length", 84, 4, "announces"}, BadFrame{"Reserved", 92, 1, "reserved"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Frame, EveryTruncationIsRefused) {
  const std::string message = sample_message();
  for (std::size_t length = 0; length < message.size(); ++length)
    EXPECT_FALSE(decode_frame(as_bytes(std::string_view(message).substr(0, length))).ok()) << length;
}

TEST(Frame, RandomBytesNeverCrash) {
  std::mt19937 random(1);
  const std::string good = sample_message();
  for (int i = 0; i < 20000; ++i) {
    std::string message = good;
    for (int changes = 1 + static_cast<int>(random() % 4); changes > 0; --changes)
      message[random() % message.size()] = static_cast<char>(random());
    const Result<Frame> frame = decode_frame(as_bytes(message));
    if (frame.ok()) {
      EXPECT_LE((*frame).header.offset + (*frame).header.raw_bytes, (*frame).header.transfer_bytes);
    }
  }
}

}  // namespace
}  // namespace isthmus
