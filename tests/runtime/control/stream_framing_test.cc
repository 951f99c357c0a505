#include "runtime/control/stream_framing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/control/control_stream.h"

namespace isthmus {
namespace {

using testing::HasSubstr;

std::string framed(std::initializer_list<std::string_view> messages) {
  StreamFraming framing;
  for (auto message : messages) framing.append(message);
  return std::string(framing.outgoing());
}

TEST(StreamFraming, BytesAreAsWritten) { EXPECT_EQ(framed({"hi"}), std::string("ISTHMUS\x01\x02\0\0\0hi", 14)); }

TEST(StreamFraming, MessagesSurviveEveryCut) {
  const std::string bytes = framed({"one", "", "three"});
  for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
    StreamFraming framing;
    std::vector<std::string> got;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      framing.received(std::string_view(bytes).substr(at, piece));
      std::string message;
      while (true) {
        const auto next = framing.next(&message);
        ASSERT_TRUE(next.ok());
        if (!*next) break;
        got.push_back(message);
      }
    }
    EXPECT_EQ(got, (std::vector<std::string>{"one", "", "three"})) << "pieces of " << piece;
  }
}

TEST(StreamFraming, OutgoingBytesLeaveInAnyPieces) {
  StreamFraming framing;
  framing.append("abc");
  std::string all;
  while (!framing.outgoing().empty()) {
    const std::size_t count = std::min<std::size_t>(3, framing.outgoing().size());
    all += framing.outgoing().substr(0, count);
    framing.sent(count);
    if (all.size() == 3) framing.append("de");
  }
  EXPECT_EQ(all, framed({"abc", "de"}));
}

TEST(StreamFraming, StrangersAreFoundAtTheirFirstWrongByte) {
  for (const char* stray : {"GET / HTTP/1.1\r\n", "x", "ISTHMU5"}) {
    StreamFraming framing;
    framing.received(stray);
    std::string message;
    EXPECT_EQ(framing.next(&message).status().code(), StatusCode::kCorruption) << stray;
    EXPECT_EQ(framing.next(&message).status().code(), StatusCode::kCorruption) << "and it is final";
  }
}

TEST(StreamFraming, SE03_APeerThatSpeaksTlsHasASecret) {
  for (const char* begin : {"\x16\x03\x01", "\x15\x03\x03"}) {
    StreamFraming framing;
    framing.received(begin);
    std::string message;
    const Status status = framing.next(&message).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_THAT(status.message(), HasSubstr("the peer has a job secret"));
  }
}

TEST(StreamFraming, MX01_AnotherVersionIsNamed) {
  StreamFraming framing;
  framing.received("ISTHMUS\x07");
  std::string message;
  const Status status = framing.next(&message).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("version 7"));
  EXPECT_THAT(status.message(), HasSubstr("version 1"));
}

TEST(StreamFraming, AnAbsurdLengthIsCorruption) {
  StreamFraming framing;
  framing.received(framed({}));
  framing.received(std::string("\xff\xff\xff\x7f", 4));
  std::string message;
  const Status status = framing.next(&message).status();
  EXPECT_EQ(status.code(), StatusCode::kCorruption);
  EXPECT_THAT(status.message(), HasSubstr("2147483647"));
}

}  // namespace
}  // namespace isthmus
