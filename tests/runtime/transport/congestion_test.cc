#include "runtime/transport/congestion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/transport/transport_options.h"

namespace isthmus {
namespace {

using ::testing::HasSubstr;

Status admit(const std::string&) { return Status(); }
Status refuse(const std::string& name) { return unsupported("no {} here", name); }

TEST(Congestion, AutoTakesBbrWhereItIsAdmitted) {
  EXPECT_EQ(choose_congestion("auto", admit)->name, "bbr");
  const auto choice = choose_congestion("auto", refuse);
  ASSERT_TRUE(choice.ok());
  EXPECT_EQ(choice->name, "");
  EXPECT_THAT(choice->reason, HasSubstr("no bbr here"));
}

TEST(Congestion, ANameIsTakenOrIsAnError) {
  EXPECT_EQ(choose_congestion("cubic", admit)->name, "cubic");
  const Status status = choose_congestion("cubic", refuse).status();
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("wan_congestion=cubic"));
}

TEST(Congestion, SystemAsksNothing) { EXPECT_EQ(choose_congestion("system", refuse)->name, ""); }

// The kernel's own default is always admitted, and a name that no kernel has is answered with the list.
TEST(Congestion, TheKernelAnswers) {
  const std::string current = ipv4_setting("tcp_congestion_control");
  ASSERT_FALSE(current.empty());
  EXPECT_TRUE(try_congestion(current).ok());
  const Status status = try_congestion("pigeon");
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("net.ipv4.tcp_available_congestion_control"));
  EXPECT_THAT(status.message(), HasSubstr(current));
}

TEST(TransportOptions, CarryTheGraceOfTheLink) {
  Options options;
  options.wan_congestion = "system";
  options.link_grace_ms = 7'000;
  const auto result = transport_options(options);
  ASSERT_TRUE(result.ok()) << result.status().to_string();
  EXPECT_EQ(result->congestion, "");
  EXPECT_EQ(to_ms(result->user_timeout), 7'000);
}

}  // namespace
}  // namespace isthmus
