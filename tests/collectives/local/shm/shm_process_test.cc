// Shared memory between real processes: this one receives, a forked child sends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>

#include "collectives/local/shm/shm_directory.h"
#include "collectives/local/shm/shm_mate.h"
#include "tests/collectives/local/shm/shm_test_pipe.h"

namespace isthmus {
namespace {

namespace fs = std::filesystem;

// Runs `body` in a child that ends with its result and without destructors of the parent's objects.
pid_t start_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  return child;
}
int status_of(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}
int exit_code_of(pid_t child) {
  const int status = status_of(child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

class ShmProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    own_ = ShmDirectory::create(1).value();
    reader_.emplace(own_->create_ring(2).value());
  }

  // A child with a directory of its own, in which it is woken when the ring has room again. It tells its path through
  // the ring, as the first message.
  pid_t start_sender(std::uint64_t count, std::size_t most) {
    return start_child([this, count, most] {
      auto directory = ShmDirectory::create(2);
      auto mate = ShmMate::open(own_->path());
      if (!directory.ok() || !mate.ok()) return 2;
      auto writer = mate->open_ring(2);
      if (!writer.ok()) return 3;
      const std::string& path = (*directory)->path();
      std::memcpy(writer->try_reserve(path.size())->data(), path.data(), path.size());
      if (writer->commit()) mate->wake();
      if (shm_test::send_all(**directory, *mate, *writer, count, most) != count) return 4;
      while (!writer->drained()) ::usleep(1000);
      directory.value().reset();
      return 0;
    });
  }
  // The sender, which its first message names.
  Result<ShmMate> find_sender() {
    while (!reader_->peek()) {
      if (reader_->arm() && !shm_test::sleep_on(*own_)) return unavailable("no message came");
    }
    sender_path_ = as_text(*reader_->peek());
    const bool sender_waits = reader_->pop();  // it may have filled the ring meanwhile
    Result<ShmMate> mate = ShmMate::open(sender_path_);
    if (sender_waits && mate.ok()) (*mate).wake();
    return mate;
  }

  std::unique_ptr<ShmDirectory> own_;
  std::optional<ShmRingReader> reader_;
  std::string sender_path_;
};

TEST_F(ShmProcessTest, AMillionSmallMessages) {
  const pid_t child = start_sender(1'000'000, 64);
  auto mate = find_sender().value();
  EXPECT_EQ(shm_test::receive_all(*own_, mate, *reader_, 1'000'000, 64), 1'000'000u) << reader_->status().to_string();
  EXPECT_EQ(exit_code_of(child), 0);
}

TEST_F(ShmProcessTest, MessagesOfAnyLengthUpTo256KiB) {
  const pid_t child = start_sender(5000, 256 * 1024);
  auto mate = find_sender().value();
  EXPECT_EQ(shm_test::receive_all(*own_, mate, *reader_, 5000, 256 * 1024), 5000u) << reader_->status().to_string();
  EXPECT_EQ(exit_code_of(child), 0);
}

TEST_F(ShmProcessTest, ASlowReaderHoldsTheSenderBack) {
  const pid_t child = start_sender(40, 256 * 1024);
  auto mate = find_sender().value();
  ::usleep(100'000);  // the ring fills; the sender sleeps
  EXPECT_EQ(::waitpid(child, nullptr, WNOHANG), 0) << "40 messages of 128 KiB do not fit a ring of 1 MiB";
  EXPECT_EQ(shm_test::receive_all(*own_, mate, *reader_, 40, 256 * 1024), 40u);
  EXPECT_EQ(exit_code_of(child), 0);
}

TEST_F(ShmProcessTest, AKilledSenderLeavesWholeMessagesAndADirectoryThatIsRemoved) {
  const pid_t child = start_sender(~std::uint64_t{0}, 4096);
  auto mate = find_sender().value();
  ASSERT_EQ(shm_test::receive_all(*own_, mate, *reader_, 1000, 4096), 1000u);
  ::kill(child, SIGKILL);
  EXPECT_EQ(exit_code_of(child), -SIGKILL);
  std::uint64_t index = 1000;
  while (auto message = reader_->peek()) {
    ASSERT_TRUE(message->size() == shm_test::length_of(index, 4096) && shm_test::is_filled(*message, index)) << index;
    ++index;
    if (reader_->pop()) mate.wake();
  }
  EXPECT_TRUE(reader_->status().ok()) << reader_->status().to_string();
  for (int i = 0; i < 100'000; ++i) mate.wake();  // a bell that nobody hears neither blocks nor raises SIGPIPE
  EXPECT_THAT(ShmMate::open(sender_path_).status().message(), testing::HasSubstr("the process that owns it is dead"));
  ASSERT_TRUE(fs::exists(sender_path_));
  auto next = ShmDirectory::create(3).value();
  EXPECT_FALSE(fs::exists(sender_path_));
}

TEST_F(ShmProcessTest, AKilledReaderLeavesTheSenderUnharmed) {
  const pid_t child = start_child([] {
    auto directory = ShmDirectory::create(5).value();
    auto reader = directory->create_ring(1).value();
    ::pause();
    return 0;
  });
  const std::string path = fmt::format("{}/isthmus-{}-{}-{:016x}", kShmRoot, ::geteuid(), child, 5);
  Result<ShmRingWriter> writer = unavailable("not tried");
  for (int attempt = 0; attempt < 2000 && !writer.ok(); ++attempt) {
    ::usleep(5000);
    if (auto mate = ShmMate::open(path); mate.ok()) writer = mate->open_ring(1);
  }
  ASSERT_TRUE(writer.ok()) << writer.status().to_string();
  ::kill(child, SIGKILL);
  EXPECT_EQ(exit_code_of(child), -SIGKILL);
  std::size_t sent = 0;
  while (writer->try_reserve(64 * 1024)) {
    ++sent;
    EXPECT_FALSE(writer->commit());
  }
  EXPECT_EQ(sent, 15u);
  EXPECT_TRUE(writer->arm(64 * 1024));
  EXPECT_EQ(remove_dead_shm_directories(), 1);
}

// Root, or a user who may map itself to root in a namespace, can mount where nobody else sees it.
bool mount_small_file_system(const std::string& where) {
  const auto user = ::geteuid(), group = ::getegid();
  if (::unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  if (user != 0) {
    std::ofstream("/proc/self/uid_map") << fmt::format("0 {} 1", user);
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/gid_map") << fmt::format("0 {} 1", group);
  }
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("none", where.c_str(), "tmpfs", 0, "size=1m") == 0;
}

// A child mounts a file system of 1 MiB in a namespace of its own and asks for a ring that does not fit.
TEST(ShmMemoryTest, AFullFileSystemIsAnErrorThatNamesWhatIsNeededAndWhatIsFree) {
  constexpr int kNoNamespace = 77;
  std::string root = testing::TempDir() + "shm_memory_test_XXXXXX";
  ASSERT_NE(::mkdtemp(root.data()), nullptr);
  const pid_t child = start_child([&] {
    if (!mount_small_file_system(root)) return kNoNamespace;
    auto directory = ShmDirectory::create(1, root);
    if (!directory.ok() || !(*directory)->create_ring(2, 512 * 1024).ok()) return 2;
    const Status status = (*directory)->create_ring(3, 1024 * 1024).status();
    if (status.code() != StatusCode::kUnavailable) return 3;
    const bool named = status.message().find("1052672 bytes of shared memory for " + root) != std::string::npos &&
                       status.message().find("No space left on device") != std::string::npos &&
                       status.message().find("520192 bytes free") != std::string::npos;
    if (!named) ::write(STDERR_FILENO, status.message().data(), status.message().size());
    // What failed leaves nothing behind: the same ring can be made smaller.
    return !named ? 4 : (*directory)->create_ring(3, 256 * 1024).ok() ? 0 : 5;
  });
  const int code = exit_code_of(child);
  fs::remove_all(root);
  if (code == kNoNamespace) GTEST_SKIP() << "this user may not mount in a namespace of its own";
  EXPECT_EQ(code, 0);
}

TEST_F(ShmProcessTest, AForkedChildDestroysNothing) {
  const pid_t child = start_child([this] {
    reader_.reset();
    own_.reset();
    return 0;
  });
  EXPECT_EQ(exit_code_of(child), 0);
  EXPECT_TRUE(fs::exists(own_->path()));
  EXPECT_EQ(remove_dead_shm_directories(), 0) << "the lock is still the parent's";
  EXPECT_TRUE(ShmMate::open(own_->path()).ok());
}

}  // namespace
}  // namespace isthmus
