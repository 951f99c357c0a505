#include "benchmarks/lab/process_tree.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "runtime/base/fd.h"

namespace isthmus::lab {
namespace {

bool lives(pid_t pid) { return ::kill(pid, 0) == 0; }

TEST(ProcessTree, KillsEvenWhatHasLeftItsSession) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const Fd reader(ends[0]);
  Fd writer(ends[1]);
  adopt_orphans();
  const pid_t child = ::fork();
  if (child == 0) {
    const pid_t grandchild = ::fork();
    if (grandchild == 0) {
      ::setsid();
      ::pause();
      ::_exit(0);
    }
    [[maybe_unused]] const auto written = ::write(writer.get(), &grandchild, sizeof(grandchild));
    ::_exit(0);
  }
  pid_t grandchild = 0;
  ASSERT_EQ(::read(reader.get(), &grandchild, sizeof(grandchild)), static_cast<ssize_t>(sizeof(grandchild)));
  EXPECT_TRUE(lives(grandchild));
  kill_descendants();
  EXPECT_FALSE(lives(grandchild));
  EXPECT_FALSE(lives(child));
}

TEST(ProcessTree, KillsByEnvironmentTheMarkedOnly) {
  const std::string mark = "PROCESS_TREE_TEST=" + std::to_string(::getpid());
  const auto start = [](const std::string& entry) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const char* const arguments[] = {"sleep", "60", nullptr};
      const char* const environment[] = {"FIRST=1", entry.c_str(), nullptr};
      ::execve("/bin/sleep", const_cast<char**>(arguments), const_cast<char**>(environment));
      ::_exit(127);
    }
    return pid;
  };
  const pid_t marked = start(mark);
  const pid_t other = start(mark + "0");
  int killed = 0;
  for (int attempt = 0; attempt < 500 && killed == 0; ++attempt) {  // until the child has its new environment
    ::usleep(10'000);
    killed = kill_by_environment(mark);
  }
  EXPECT_EQ(killed, 1);
  int status = 0;
  EXPECT_EQ(::waitpid(marked, &status, 0), marked);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(::waitpid(other, &status, WNOHANG), 0);
  ::kill(other, SIGKILL);
  ::waitpid(other, &status, 0);
}

}  // namespace
}  // namespace isthmus::lab
