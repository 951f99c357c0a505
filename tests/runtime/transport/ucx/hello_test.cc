#include "runtime/transport/ucx/hello.h"

#include <gtest/gtest.h>

#include "runtime/transport/transport.h"

namespace isthmus {
namespace {

const UcxHello kHello{0x123456789abcdef, std::string("\0g", 2), std::string(50, 'w'), "10.0.0.1:50001"};

TEST(UcxHello, IsReadBack) {
  const std::string bytes = encode_hello(kHello);
  EXPECT_LE(bytes.size(), kMaxHelloBytes);
  const auto hello = decode_hello(as_bytes(bytes));
  ASSERT_TRUE(hello.ok()) << hello.status().to_string();
  EXPECT_EQ(hello->lane_tag, kHello.lane_tag);
  EXPECT_EQ(hello->greeting, kHello.greeting);
  EXPECT_EQ(hello->worker, kHello.worker);
  EXPECT_EQ(hello->place, kHello.place);
}

TEST(UcxHello, TheLongestFits) {
  const UcxHello longest{1, std::string(kMaxGreetingBytes, 'g'), std::string(144, 'w'), std::string(64, 'p')};
  const std::string bytes = encode_hello(longest);
  EXPECT_LE(bytes.size(), kMaxHelloBytes);
  EXPECT_TRUE(decode_hello(as_bytes(bytes)).ok());
}

TEST(UcxHello, RefusesWhatIsCutOrLonger) {
  const std::string bytes = encode_hello(kHello);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(decode_hello(as_bytes(bytes.substr(0, length))).status().code(), StatusCode::kCorruption) << length;
  }
  EXPECT_EQ(decode_hello(as_bytes(bytes + "x")).status().code(), StatusCode::kCorruption);
}

TEST(UcxHello, RefusesPartsThatAreTooLongAndTagsWithAKind) {
  UcxHello hello = kHello;
  hello.greeting.assign(kMaxGreetingBytes + 1, 'g');
  EXPECT_FALSE(decode_hello(as_bytes(encode_hello(hello))).ok());
  hello = kHello;
  hello.worker.clear();
  EXPECT_FALSE(decode_hello(as_bytes(encode_hello(hello))).ok());
  hello.worker.assign(145, 'w');
  EXPECT_FALSE(decode_hello(as_bytes(encode_hello(hello))).ok());
  hello = kHello;
  hello.lane_tag |= kDataTag;
  EXPECT_FALSE(decode_hello(as_bytes(encode_hello(hello))).ok());
}

TEST(UcxHello, NamesAnotherVersion) {
  std::string bytes = encode_hello(kHello);
  bytes[4] = 9;
  const Status status = decode_hello(as_bytes(bytes)).status();
  EXPECT_EQ(status.code(), StatusCode::kCorruption);
  EXPECT_NE(status.message().find("version 9"), std::string::npos);
}

TEST(UcxControl, IsReadBackOrRefused) {
  const std::string bytes = encode_control({UcxControlKind::kConsumed, 1234567890123});
  ASSERT_EQ(bytes.size(), kControlBytes);
  const auto control = decode_control(as_bytes(bytes));
  ASSERT_TRUE(control.ok());
  EXPECT_EQ(control->kind, UcxControlKind::kConsumed);
  EXPECT_EQ(control->value, 1234567890123u);
  for (const char kind : {0, 4, 77}) {
    std::string wrong = bytes;
    wrong[6] = kind;
    EXPECT_FALSE(decode_control(as_bytes(wrong)).ok());
  }
  EXPECT_FALSE(decode_control(as_bytes(bytes.substr(1))).ok());
}

}  // namespace
}  // namespace isthmus
