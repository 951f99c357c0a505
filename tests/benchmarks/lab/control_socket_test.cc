#include "benchmarks/lab/control_socket.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

namespace isthmus::lab {
namespace {

class ControlSocketTest : public testing::Test {
 protected:
  ControlSocketTest() : path_(testing::TempDir() + "ctl-" + std::to_string(::getpid())) {}
  ~ControlSocketTest() override { ::unlink(path_.c_str()); }

  std::string path_;
};

TEST_F(ControlSocketTest, CarriesWordsAndAnswers) {
  auto server = ControlServer::listen(path_);
  ASSERT_TRUE(server.ok()) << server.status().to_string();
  const auto answer = [](const std::vector<std::string>& words) -> Result<std::string> {
    if (words.front() == "fail") return invalid_argument("no {}", words.back());
    return fmt::format("{} words, the last is '{}'", words.size(), words.back());
  };
  std::thread thread([&] {
    server->serve(answer);
    server->serve(answer);
  });
  EXPECT_EQ(*ask_lab(path_, {"say", "two words"}), "2 words, the last is 'two words'");
  EXPECT_EQ(ask_lab(path_, {"fail", "luck"}).status().message(), "no luck");
  thread.join();
}

TEST_F(ControlSocketTest, SaysThatNobodyListens) {
  EXPECT_EQ(ask_lab(path_, {"show"}).status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace isthmus::lab
