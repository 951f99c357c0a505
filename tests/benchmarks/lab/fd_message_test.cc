#include "benchmarks/lab/fd_message.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

namespace isthmus::lab {
namespace {

TEST(FdMessage, HandsDescriptorsOver) {
  int sockets[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
  Fd left(sockets[0]);
  const Fd right(sockets[1]);
  int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const Fd reader(pipe_ends[0]);
  Fd writer(pipe_ends[1]);
  const int sent[] = {writer.get()};
  ASSERT_TRUE(send_with_fds(left.get(), "here", sent).ok());
  writer.reset();

  std::vector<Fd> got;
  EXPECT_EQ(*receive_with_fds(right.get(), &got), "here");
  ASSERT_EQ(got.size(), 1u);
  ASSERT_EQ(::write(got[0].get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(::read(reader.get(), &byte, 1), 1);
  EXPECT_EQ(byte, 'x');

  left.reset();
  EXPECT_EQ(receive_with_fds(right.get(), &got).status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace isthmus::lab
