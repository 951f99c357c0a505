#include "collectives/local/shm/shm_directory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "collectives/local/shm/shm_mate.h"
#include "tests/collectives/local/shm/shm_test_pipe.h"

namespace isthmus {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::size_t open_descriptors() {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator{}));
}

class ShmDirectoryTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "shm_directory_test_XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }
  std::string dead_name() const { return fmt::format("{}/isthmus-{}-1-00000000000000ff", root_, ::geteuid()); }

  std::string root_;
};

TEST_F(ShmDirectoryTest, HasItsNameAndIsForItsUserAlone) {
  auto directory = ShmDirectory::create(0xab, root_).value();
  EXPECT_EQ(directory->path(), fmt::format("{}/isthmus-{}-{}-00000000000000ab", root_, ::geteuid(), ::getpid()));
  EXPECT_EQ(fs::status(directory->path()).permissions(), fs::perms::owner_all);
  EXPECT_TRUE(fs::is_fifo(directory->path() + "/wake"));
  const std::string path = directory->path();
  ASSERT_TRUE(directory->create_ring(1).ok());
  directory.reset();
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(ShmDirectoryTest, AMessageAndAWakeUpPass) {
  auto directory = ShmDirectory::create(1, root_).value();
  auto reader = directory->create_ring(2).value();
  auto mate = ShmMate::open(directory->path()).value();
  auto writer = mate.open_ring(2).value();
  EXPECT_FALSE(fs::exists(directory->path() + "/" + shm_ring_name(2))) << "the name goes when both ends are mapped";
  ASSERT_TRUE(reader.arm());
  auto room = writer.try_reserve(100);
  ASSERT_TRUE(room);
  shm_test::fill(*room, 5);
  ASSERT_TRUE(writer.commit());
  mate.wake();
  EXPECT_TRUE(shm_test::sleep_on(*directory));
  auto message = reader.peek();
  ASSERT_TRUE(message);
  EXPECT_TRUE(shm_test::is_filled(*message, 5));
  pollfd waited{directory->wake_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waited, 1, 0), 0) << "drained";
}

TEST_F(ShmDirectoryTest, AnyNumberOfWakeUpsNeverBlocks) {
  auto directory = ShmDirectory::create(1, root_).value();
  auto mate = ShmMate::open(directory->path()).value();
  for (int i = 0; i < 100'000; ++i) mate.wake();
  EXPECT_TRUE(shm_test::sleep_on(*directory));
  pollfd waited{directory->wake_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waited, 1, 0), 0);
}

TEST_F(ShmDirectoryTest, RingsAreOpenedOnceAndOnlyIfCreated) {
  auto directory = ShmDirectory::create(1, root_).value();
  auto mate = ShmMate::open(directory->path()).value();
  EXPECT_EQ(mate.open_ring(2).status().code(), StatusCode::kUnavailable);
  ASSERT_TRUE(directory->create_ring(2).ok());
  EXPECT_THAT(directory->create_ring(2).status().message(), HasSubstr("File exists"));
  ASSERT_TRUE(mate.open_ring(2).ok());
  EXPECT_EQ(mate.open_ring(2).status().code(), StatusCode::kUnavailable);
  EXPECT_EQ(directory->create_ring(3, 5000).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(ShmDirectoryTest, RefusesAFileThatIsNoRing) {
  auto directory = ShmDirectory::create(1, root_).value();
  auto mate = ShmMate::open(directory->path()).value();
  std::ofstream(directory->path() + "/" + shm_ring_name(2)) << "short";
  EXPECT_THAT(mate.open_ring(2).status().message(), HasSubstr("is 5 bytes long"));
  std::ofstream(directory->path() + "/" + shm_ring_name(3)) << std::string(kShmRingDataOffset + 4096, 'x');
  EXPECT_THAT(mate.open_ring(3).status().message(), HasSubstr("not a ring of this version"));
}

TEST_F(ShmDirectoryTest, LeftoversOfTheDeadAreRemovedAndOnlyThose) {
  fs::create_directory(dead_name());
  std::ofstream(dead_name() + "/ring-0000000000000001") << "left behind";
  ASSERT_EQ(::mkfifo((dead_name() + "/wake").c_str(), 0600), 0);
  fs::create_directory(root_ + "/isthmus-other");
  fs::create_directory_symlink(root_ + "/isthmus-other", dead_name() + "0");
  auto living = ShmDirectory::create(1, root_).value();
  EXPECT_FALSE(fs::exists(dead_name()));
  EXPECT_TRUE(fs::exists(root_ + "/isthmus-other"));
  EXPECT_TRUE(fs::is_symlink(dead_name() + "0"));
  auto second = ShmDirectory::create(2, root_).value();
  EXPECT_TRUE(fs::exists(living->path())) << "alive: its lock is held";
  EXPECT_EQ(remove_dead_shm_directories(root_), 0);
}

TEST_F(ShmDirectoryTest, OneIdInOneProcessIsOneDirectory) {
  auto first = ShmDirectory::create(1, root_).value();
  EXPECT_THAT(ShmDirectory::create(1, root_).status().message(), HasSubstr("another process"));
  EXPECT_TRUE(ShmMate::open(first->path()).ok()) << "the failed attempt must not harm the first";
}

// Every creation cleans up; none may take a directory that another thread is just making for a dead one.
TEST_F(ShmDirectoryTest, CreationAndCleaningRaceWithoutHarm) {
  constexpr int kThreads = 4, kRounds = 200;
  std::atomic<int> usable{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < kRounds; ++round) {
        auto directory = ShmDirectory::create(static_cast<ProcessId>(t * kRounds + round + 1), root_);
        usable += directory.ok() && ShmMate::open((*directory)->path()).ok();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(usable, kThreads * kRounds);
  EXPECT_TRUE(fs::is_empty(root_));
}

TEST_F(ShmDirectoryTest, ADirectoryThatCannotBeMadeIsNamed) {
  const Status status = ShmDirectory::create(1, root_ + "/absent").status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr(root_ + "/absent/isthmus-"));
  EXPECT_THAT(ShmMate::open(root_ + "/absent").status().message(), HasSubstr("No such file"));
}

TEST_F(ShmDirectoryTest, DescriptorsAreCloseOnExecAndAllComeBack) {
  const std::size_t before = open_descriptors();
  for (int round = 0; round < 500; ++round) {
    auto directory = ShmDirectory::create(1, root_).value();
    auto reader = directory->create_ring(2, 4096).value();
    auto mate = ShmMate::open(directory->path()).value();
    auto writer = mate.open_ring(2).value();
    ASSERT_TRUE(writer.try_reserve(8));
    if (round > 0) continue;
    for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
      const int fd = std::stoi(entry.path().filename());
      std::error_code gone;
      if (!fs::read_symlink(entry.path(), gone).string().starts_with(root_)) continue;
      EXPECT_TRUE(::fcntl(fd, F_GETFD) & FD_CLOEXEC) << fs::read_symlink(entry.path(), gone);
    }
  }
  EXPECT_EQ(open_descriptors(), before);
}

// "Processes" that are threads of one: the same code, each with its own directory.
TEST_F(ShmDirectoryTest, AWorldOfThreadsSpeaksBothWays) {
  constexpr std::uint64_t kCount = 2000;
  constexpr std::size_t kMost = 256 * 1024;
  auto first = ShmDirectory::create(1, root_).value(), second = ShmDirectory::create(2, root_).value();
  auto from_second = first->create_ring(2).value(), from_first = second->create_ring(1).value();
  auto to_second = ShmMate::open(second->path()).value(), to_first = ShmMate::open(first->path()).value();
  auto writer = to_second.open_ring(1).value(), echo = to_first.open_ring(2).value();
  std::uint64_t received = 0, echoed = 0;
  std::thread other([&] {
    received = shm_test::receive_all(*second, to_first, from_first, kCount, kMost);
    echoed = shm_test::send_all(*second, to_first, echo, kCount, kMost);
  });
  EXPECT_EQ(shm_test::send_all(*first, to_second, writer, kCount, kMost), kCount);
  EXPECT_EQ(shm_test::receive_all(*first, to_second, from_second, kCount, kMost), kCount);
  other.join();
  EXPECT_EQ(received, kCount);
  EXPECT_EQ(echoed, kCount);
}

}  // namespace
}  // namespace isthmus
