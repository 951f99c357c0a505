#include "runtime/transport/libfabric/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rdma/fi_errno.h>

namespace isthmus {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(LibfabricError, SaysWhatTheCallerDoesNext) {
  EXPECT_EQ(libfabric_error(-FI_ECONNREFUSED, "x").code(), StatusCode::kUnavailable);
  EXPECT_EQ(libfabric_error(FI_ECONNRESET, "x").code(), StatusCode::kUnavailable);
  EXPECT_EQ(libfabric_error(-FI_ETRUNC, "x").code(), StatusCode::kCorruption);
  EXPECT_EQ(libfabric_error(-FI_ECANCELED, "x").code(), StatusCode::kAborted);
  EXPECT_EQ(libfabric_error(-FI_ENODATA, "x").code(), StatusCode::kUnsupported);
  EXPECT_EQ(libfabric_error(-FI_EINVAL, "x").code(), StatusCode::kInternal);
}

TEST(LibfabricError, KeepsTheNumberAndTheWords) {
  EXPECT_THAT(libfabric_error(-FI_ECONNREFUSED, "the lane").message(), StartsWith("the lane: Connection refused"));
  EXPECT_THAT(libfabric_error(-FI_EMFILE, "x").message(), HasSubstr("ulimit"));
  EXPECT_THAT(libfabric_error(-FI_ETRUNC, "x").message(), HasSubstr(std::to_string(FI_ETRUNC)));
}

}  // namespace
}  // namespace isthmus
