#include "runtime/bootstrap/host_identity.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace isthmus {
namespace {

TEST(HostIdentity, IsTheSameForTheSameProcess) {
  ProcessInfo a, b;
  ASSERT_TRUE(fill_host_identity(&a).ok());
  ASSERT_TRUE(fill_host_identity(&b).ok());
  EXPECT_FALSE(a.host_id.empty());
  EXPECT_FALSE(a.host_name.empty());
  EXPECT_EQ(a.host_id, b.host_id);
  EXPECT_EQ(a.network_id, b.network_id);
  EXPECT_NE(a.host_id, a.network_id);
}

// How a process sees itself after `flags` were unshared. Bit 0: another host, bit 1: another network.
int identity_change_after_unshare(int flags) {
  ProcessInfo before;
  if (!fill_host_identity(&before).ok()) return -1;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(CLONE_NEWUSER | flags) != 0) ::_exit(64);
    ProcessInfo after;
    if (!fill_host_identity(&after).ok()) ::_exit(65);
    ::_exit((after.host_id != before.host_id ? 1 : 0) | (after.network_id != before.network_id ? 2 : 0));
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

TEST(HostIdentity, NamespacesMakeHosts) {
  const int network = identity_change_after_unshare(CLONE_NEWNET);
  if (network == 64) GTEST_SKIP() << "this system lets no user namespace be made";
  EXPECT_EQ(network, 3) << "a lab site is a host of its own, with a network of its own";
  EXPECT_EQ(identity_change_after_unshare(CLONE_NEWIPC), 1) << "no shared memory, but loopback";
  EXPECT_EQ(identity_change_after_unshare(CLONE_NEWNS), 1);
}

}  // namespace
}  // namespace isthmus
