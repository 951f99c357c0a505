#include "runtime/bootstrap/file_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace isthmus {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TimePoint in(Duration time) { return SteadyClock::instance().now() + time; }
TimePoint soon() { return in(std::chrono::seconds(20)); }

class FileStoreTest : public testing::Test {
 protected:
  FileStoreTest() : path_(std::filesystem::temp_directory_path() / fmt::format("file_store_test.{}", ::getpid())) {}
  ~FileStoreTest() override { std::filesystem::remove(path_); }

  std::unique_ptr<FileStore> open() {
    auto store = FileStore::open(path_);
    EXPECT_TRUE(store.ok()) << store.status().to_string();
    return std::move(store).value();
  }
  void append_raw(std::string_view bytes) { std::ofstream(path_, std::ios::app | std::ios::binary) << bytes; }

  std::filesystem::path path_;
};

TEST_F(FileStoreTest, OutlivesItsWriters) {
  ASSERT_TRUE(open()->set("key", "value", soon()).ok());
  EXPECT_EQ(*open()->get("key", soon()), "value");
}

TEST_F(FileStoreTest, AForeignFileIsRefusedAndLeftAlone) {
  append_raw("my thesis, chapter one");
  const Status status = FileStore::open(path_).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr(path_.string()));
  std::ifstream file(path_);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "my thesis, chapter one");
}

TEST_F(FileStoreTest, AMissingFolderIsNamed) {
  const Status status = FileStore::open("/no such folder/store").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("/no such folder/store"));
}

// What a writer leaves that is killed in mid write: some bytes of a record, whatever they are.
TEST_F(FileStoreTest, ATornRecordIsCutOffByTheNextWriter) {
  const std::string tails[] = {"\x20", std::string("\xff\x00\x00\x00", 4),
                               std::string("\x09\x00\x00\x00\x01\x02\x03\x04yz", 10), std::string(200, '\0')};
  int n = 0;
  append_raw("isthmus-");  // the first writer of all died in the file's magic
  const auto reader = open();
  ASSERT_TRUE(open()->set("key 0", "value", soon()).ok());
  EXPECT_EQ(*reader->get("key 0", soon()), "value");
  for (const std::string& tail : tails) {
    const std::string key = fmt::format("key {}", ++n);
    append_raw(tail);
    EXPECT_FALSE(*reader->contains(key, soon())) << "a torn record is not there";
    ASSERT_TRUE(open()->set(key, "value", soon()).ok());
    EXPECT_EQ(*reader->get(key, soon()), "value") << "tail " << n;
    EXPECT_EQ(*open()->get("key 1", soon()), "value") << "earlier records are whole";
  }
}

// Writers in other processes are killed at any point, some while they hold the lock.
TEST_F(FileStoreTest, KilledWritersLeaveTheStoreUsable) {
  const auto store = open();
  for (int round = 0; round < 20; ++round) {
    const pid_t writer = ::fork();
    ASSERT_GE(writer, 0);
    if (writer == 0) {
      auto own = FileStore::open(path_);
      for (int i = 0; own.ok(); ++i) {
        if (!(*own)->set(fmt::format("round {}", round), std::string(5000, 'x'), soon()).ok()) break;
      }
      ::_exit(1);
    }
    ASSERT_TRUE(store->get(fmt::format("round {}", round), soon()).ok());
    ::usleep(static_cast<useconds_t>(100 * round));
    ASSERT_EQ(::kill(writer, SIGKILL), 0);
    ASSERT_EQ(::waitpid(writer, nullptr, 0), writer);
    ASSERT_TRUE(store->set("survivor", fmt::format("{}", round), soon()).ok());
    EXPECT_EQ(*open()->get("survivor", soon()), fmt::format("{}", round));
  }
}

TEST_F(FileStoreTest, AHeldLockEndsAtTheDeadline) {
  const auto store = open();
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t holder = ::fork();
  ASSERT_GE(holder, 0);
  if (holder == 0) {
    const int file = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
    const bool locked = ::flock(file, LOCK_EX) == 0;
    if (locked && ::write(ready[1], "x", 1) == 1) ::sleep(30);
    ::_exit(1);
  }
  ::close(ready[1]);
  char byte = 0;
  const ssize_t got = ::read(ready[0], &byte, 1);
  const Status status = store->set("key", "value", in(milliseconds(100)));
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
  ::close(ready[0]);
  ASSERT_EQ(got, 1);
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(status.message(), HasSubstr("lock"));
  EXPECT_TRUE(store->set("key", "value", soon()).ok()) << "the lock went with its holder";
}

TEST_F(FileStoreTest, AForkedChildIsTold) {
  const auto store = open();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Status status = store->set("key", "value", soon());
    ::_exit(status.code() == StatusCode::kUnavailable && status.message().find("fork") != std::string::npos ? 0 : 1);
  }
  int result = -1;
  ASSERT_EQ(::waitpid(child, &result, 0), child);
  EXPECT_EQ(result, 0);
}

// LC-06: waiting costs hardly any processor time.
TEST_F(FileStoreTest, LC06_WaitingSleeps) {
  const auto store = open();
  const auto cpu_seconds = [] {
    rusage usage{};
    ::getrusage(RUSAGE_THREAD, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  const double before = cpu_seconds();
  EXPECT_FALSE(store->get("never", in(std::chrono::seconds(1))).ok());
  EXPECT_LT(cpu_seconds() - before, 0.05);
}

}  // namespace
}  // namespace isthmus
