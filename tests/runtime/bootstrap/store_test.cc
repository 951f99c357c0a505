// The contract of stores, on every make.
#include "runtime/bootstrap/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "runtime/bootstrap/callback_store.h"
#include "runtime/bootstrap/file_store.h"
#include "runtime/bootstrap/memory_store.h"
#include "runtime/bootstrap/prefix_store.h"
#include "runtime/bootstrap/rendezvous_server.h"
#include "runtime/bootstrap/tcp_store.h"
#include "runtime/control/memory_control.h"
#include "runtime/control/tcp_control.h"

namespace isthmus {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TimePoint in(Duration time) { return SteadyClock::instance().now() + time; }
TimePoint soon() { return in(std::chrono::seconds(20)); }

// A service, and stores on it.
class Fixture {
 public:
  virtual ~Fixture() = default;
  virtual std::unique_ptr<Store> open() = 0;
};

class MemoryFixture : public Fixture {
 public:
  std::unique_ptr<Store> open() override { return std::move(root_.clone()).value(); }

 private:
  MemoryStore root_;
};

class FileFixture : public Fixture {
 public:
  FileFixture() : path_(std::filesystem::temp_directory_path() / fmt::format("store_test.{}", ::getpid())) {}
  ~FileFixture() override { std::filesystem::remove(path_); }
  std::unique_ptr<Store> open() override {
    auto store = FileStore::open(path_);
    EXPECT_TRUE(store.ok()) << store.status().to_string();
    return std::move(store).value();
  }

 private:
  std::filesystem::path path_;
};

template <typename Network>
class ServerFixture : public Fixture {
 public:
  ServerFixture() {
    auto server = RendezvousServer::start(&network_, {"127.0.0.1"});
    EXPECT_TRUE(server.ok()) << server.status().to_string();
    server_ = std::move(server).value();
  }
  std::unique_ptr<Store> open() override {
    auto store = TcpStore::connect(&network_, server_->address(), soon());
    EXPECT_TRUE(store.ok()) << store.status().to_string();
    return std::move(store).value();
  }

 private:
  Network network_;
  std::unique_ptr<RendezvousServer> server_;
};

class CallbackFixture : public MemoryFixture {
 public:
  std::unique_ptr<Store> open() override {
    std::shared_ptr<Store> inner = MemoryFixture::open();
    StoreFunctions functions;
    functions.set = [inner](auto key, auto value, Duration left) { return inner->set(key, value, in(left)); };
    functions.get = [inner](auto key, Duration left) { return inner->get(key, in(left)); };
    functions.contains = [inner](auto key, Duration left) { return inner->contains(key, in(left)); };
    functions.add = [inner](auto key, auto delta, Duration left) { return inner->add(key, delta, in(left)); };
    functions.remove = [inner](auto key, Duration left) { return inner->remove(key, in(left)); };
    return std::move(CallbackStore::create(std::move(functions))).value();
  }
};

class PrefixFixture : public MemoryFixture {
 public:
  std::unique_ptr<Store> open() override { return std::make_unique<PrefixStore>("group/", MemoryFixture::open()); }
};

struct Make {
  const char* name;
  std::function<std::unique_ptr<Fixture>()> make;
};
void PrintTo(const Make& make, std::ostream* out) { *out << make.name; }

class StoreTest : public testing::TestWithParam<Make> {
 protected:
  std::unique_ptr<Fixture> fixture_ = GetParam().make();
  std::unique_ptr<Store> store_ = fixture_->open();
};

TEST_P(StoreTest, GivesWhatWasSet) {
  const std::string value("\0 any \xff bytes", 13);
  ASSERT_TRUE(store_->set("key", value, soon()).ok());
  EXPECT_EQ(*store_->get("key", soon()), value);
  ASSERT_TRUE(store_->set("key", "", soon()).ok());
  EXPECT_EQ(*store_->get("key", soon()), "") << "the last value counts, an empty one too";
  ASSERT_TRUE(store_->set("key with spaces/and\nlines", "x", soon()).ok());
  EXPECT_EQ(*store_->get("key with spaces/and\nlines", soon()), "x");
}

TEST_P(StoreTest, ClonesSeeTheSameKeys) {
  auto clone = store_->clone();
  ASSERT_TRUE(clone.ok()) << clone.status().to_string();
  ASSERT_TRUE((*clone)->set("key", "value", soon()).ok());
  EXPECT_EQ(*store_->get("key", soon()), "value");
  EXPECT_EQ(*fixture_->open()->get("key", soon()), "value");
}

TEST_P(StoreTest, GetWaitsForTheKey) {
  std::thread later([other = fixture_->open()] {
    std::this_thread::sleep_for(milliseconds(30));
    EXPECT_TRUE(other->set("late", "value", soon()).ok());
  });
  const auto value = store_->get("late", soon());
  later.join();
  ASSERT_TRUE(value.ok()) << value.status().to_string();
  EXPECT_EQ(*value, "value");
}

TEST_P(StoreTest, GetEndsAtItsDeadlineAndNamesTheKey) {
  const TimePoint start = SteadyClock::instance().now();
  const Status status = store_->get("never", in(milliseconds(80))).status();
  const Duration took = SteadyClock::instance().now() - start;
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.to_string();
  EXPECT_THAT(status.message(), HasSubstr("never\""));
  EXPECT_GE(took, milliseconds(80));
  EXPECT_LT(took, milliseconds(2000));
}

TEST_P(StoreTest, AStoreServesOnAfterADeadline) {
  EXPECT_FALSE(store_->get("late", in(milliseconds(20))).ok());
  ASSERT_TRUE(fixture_->open()->set("late", "value", soon()).ok());
  ASSERT_TRUE(store_->set("other", "thing", soon()).ok());
  EXPECT_EQ(*store_->get("other", soon()), "thing");
  EXPECT_EQ(*store_->get("late", soon()), "value");
}

TEST_P(StoreTest, ContainsDoesNotWait) {
  EXPECT_FALSE(*store_->contains("key", soon()));
  ASSERT_TRUE(store_->set("key", "value", soon()).ok());
  EXPECT_TRUE(*store_->contains("key", soon()));
}

TEST_P(StoreTest, RemovedKeysAreAbsent) {
  ASSERT_TRUE(store_->set("key", "value", soon()).ok());
  ASSERT_TRUE(store_->remove("key", soon()).ok());
  EXPECT_FALSE(*store_->contains("key", soon()));
  EXPECT_TRUE(store_->remove("key", soon()).ok()) << "an absent key may be removed";
}

TEST_P(StoreTest, CountersStartAtZeroAndReadAsText) {
  EXPECT_EQ(*store_->add("count", 5, soon()), 5);
  EXPECT_EQ(*store_->add("count", -7, soon()), -2);
  EXPECT_EQ(*store_->get("count", soon()), "-2");
  ASSERT_TRUE(store_->set("text", "five", soon()).ok());
  EXPECT_EQ(store_->add("text", 1, soon()).status().code(), StatusCode::kInvalidArgument);
}

TEST_P(StoreTest, ConcurrentAddsAllCount) {
  constexpr int kThreads = 8, kAdds = 50;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([own = fixture_->open()] {
      for (int k = 0; k < kAdds; ++k) EXPECT_TRUE(own->add("count", 1, soon()).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(*store_->add("count", 0, soon()), kThreads * kAdds);
}

template <typename T>
std::unique_ptr<Fixture> make() {
  return std::make_unique<T>();
}

INSTANTIATE_TEST_SUITE_P(EveryMake, StoreTest,
                         testing::Values(Make{"Memory", make<MemoryFixture>}, Make{"File", make<FileFixture>},
                                         Make{"Tcp", make<ServerFixture<TcpControlNetwork>>},
                                         Make{"TcpInMemory", make<ServerFixture<MemoryControlNetwork>>},
                                         Make{"Callback", make<CallbackFixture>}, Make{"Prefix", make<PrefixFixture>}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace isthmus
