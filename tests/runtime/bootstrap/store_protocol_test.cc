#include "runtime/bootstrap/store_protocol.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

TEST(StoreProtocol, BytesAreAsWritten) {
  EXPECT_EQ(StoreGreeting{3}.encode(), std::string("ISTR\x03\0\0\0", 8));
  EXPECT_EQ((StoreRequest{1, StoreCall::kAdd, "k", "", -1}.encode()),
            std::string("\x01\0\0\0\0\0\0\0\x04\x01\0\0\0k\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 26));
}

TEST(StoreProtocol, MessagesReadBack) {
  const StoreRequest request{77, StoreCall::kSet, "key", std::string("\0v", 2), -5};
  const auto read = StoreRequest::decode(request.encode());
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->encode(), request.encode());
  const StoreAnswer answer{78, Status(), "value", -9};
  const auto got = StoreAnswer::decode(answer.encode());
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->value, "value");
  EXPECT_EQ(got->number, -9);
  const auto failed = StoreAnswer::decode(StoreAnswer{79, unavailable("gone"), "", 0}.encode());
  ASSERT_TRUE(failed.ok());
  EXPECT_EQ(failed->status.to_string(), unavailable("gone").to_string());
}

TEST(StoreProtocol, HostileBytesAreCorruption) {
  const std::string request = StoreRequest{1, StoreCall::kGet, "key", "value", 0}.encode();
  const std::string answer = StoreAnswer{1, Status(), "value", 0}.encode();
  for (std::size_t length = 0; length < request.size(); ++length) {
    EXPECT_EQ(StoreRequest::decode(request.substr(0, length)).status().code(), StatusCode::kCorruption) << length;
  }
  for (std::size_t length = 0; length < answer.size(); ++length) {
    EXPECT_EQ(StoreAnswer::decode(answer.substr(0, length)).status().code(), StatusCode::kCorruption) << length;
  }
  std::string bad_call = request, bad_code = answer;
  bad_call[8] = 9;
  bad_code[8] = 99;
  EXPECT_FALSE(StoreRequest::decode(bad_call).ok());
  EXPECT_FALSE(StoreAnswer::decode(bad_code).ok());
  EXPECT_FALSE(StoreGreeting::decode("GET / HTTP/1.1").ok());
  EXPECT_FALSE(StoreGreeting::decode("IST").ok());
}

}  // namespace
}  // namespace isthmus
