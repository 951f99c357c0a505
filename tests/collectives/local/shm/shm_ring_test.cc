#include "collectives/local/shm/shm_ring.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <thread>

#include "collectives/local/shm/shm_ring_reader.h"
#include "collectives/local/shm/shm_ring_writer.h"
#include "runtime/base/fd.h"
#include "tests/collectives/local/shm/shm_test_pipe.h"

namespace isthmus {
namespace {

// Both ends on one mapping, so that the thread sanitizer sees that they touch the same memory.
class ShmRingTest : public testing::Test {
 protected:
  void make(std::size_t capacity) {
    const std::size_t bytes = kShmRingDataOffset + capacity;
    void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(data, MAP_FAILED);
    mapping_ = std::make_shared<ShmMapping>(data, bytes);
    format_shm_ring(*mapping_, capacity);
    writer_.emplace(ShmRingWriter::attach(mapping_, "ring under test").value());
    reader_.emplace(ShmRingReader::attach(mapping_, "ring under test").value());
  }
  bool put(std::size_t bytes, std::uint64_t index) {
    auto room = writer_->try_reserve(bytes);
    if (!room) return false;
    if (bytes > 0) shm_test::fill(*room, index);
    woke_reader_ = writer_->commit();
    return true;
  }
  ShmRingHeader& header() { return *reinterpret_cast<ShmRingHeader*>(mapping_->data()); }
  std::byte* ring() { return mapping_->data() + kShmRingDataOffset; }

  std::shared_ptr<ShmMapping> mapping_;
  std::optional<ShmRingWriter> writer_;
  std::optional<ShmRingReader> reader_;
  bool woke_reader_ = false;
};

TEST_F(ShmRingTest, MessagesComeOutInOrderInPlaceAndAligned) {
  make(4096);
  EXPECT_FALSE(reader_->peek());
  ASSERT_TRUE(put(5, 1));
  ASSERT_TRUE(put(0, 2));
  ASSERT_TRUE(put(100, 3));
  for (const auto& [bytes, index] : {std::pair<std::size_t, std::uint64_t>{5, 1}, {0, 2}, {100, 3}}) {
    auto message = reader_->peek();
    ASSERT_TRUE(message);
    EXPECT_EQ(message->size(), bytes);
    EXPECT_TRUE(bytes == 0 || shm_test::is_filled(*message, index));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message->data()) % kShmRecordAlign, 0u);
    EXPECT_EQ(reader_->peek()->data(), message->data()) << "peeking takes nothing out";
    EXPECT_FALSE(reader_->pop());
  }
  EXPECT_FALSE(reader_->peek());
  EXPECT_TRUE(writer_->drained());
}

TEST_F(ShmRingTest, AReservationThatIsNotCommittedIsNothing) {
  make(4096);
  ASSERT_TRUE(writer_->try_reserve(100));
  EXPECT_FALSE(reader_->peek());
  EXPECT_FALSE(reader_->pop());
  ASSERT_TRUE(put(7, 9));
  EXPECT_EQ(reader_->peek()->size(), 7u);
  EXPECT_FALSE(writer_->commit()) << "nothing is reserved any more";
}

TEST_F(ShmRingTest, EveryLengthFitsAnEmptyRingWhereverItStarts) {
  make(4096);
  const std::size_t most = writer_->max_message_bytes();
  EXPECT_EQ(most, 2032u);
  for (std::uint64_t start = 0; start < 256; ++start) {
    ASSERT_TRUE(put(most, start)) << start;
    auto message = reader_->peek();
    ASSERT_TRUE(message && shm_test::is_filled(*message, start)) << reader_->status().to_string();
    ASSERT_FALSE(reader_->pop());
    ASSERT_TRUE(put(1, start) && reader_->peek());
    ASSERT_FALSE(reader_->pop());
  }
}

TEST_F(ShmRingTest, AMessageThatNeverFitsEndsTheRingAndNamesBothSizes) {
  make(4096);
  EXPECT_FALSE(writer_->try_reserve(2033));
  EXPECT_EQ(writer_->status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(writer_->status().message().find("2033"), std::string::npos);
  EXPECT_NE(writer_->status().message().find("2032"), std::string::npos);
}

TEST_F(ShmRingTest, AFullRingTakesNothingUntilThereIsRoom) {
  make(4096);
  std::uint64_t sent = 0;
  while (put(240, sent)) ++sent;
  EXPECT_EQ(sent, 16u);
  EXPECT_TRUE(writer_->status().ok());
  EXPECT_FALSE(writer_->drained());
  ASSERT_TRUE(reader_->peek());
  EXPECT_FALSE(reader_->pop()) << "the writer did not say that it sleeps";
  EXPECT_TRUE(put(240, sent));
  EXPECT_FALSE(put(240, sent));
}

TEST_F(ShmRingTest, OneWakeUpForAReaderThatSleeps) {
  make(4096);
  ASSERT_TRUE(reader_->arm());
  ASSERT_TRUE(put(8, 1));
  EXPECT_TRUE(woke_reader_);
  ASSERT_TRUE(put(8, 2));
  EXPECT_FALSE(woke_reader_) << "the second message finds it awake";
  EXPECT_FALSE(reader_->arm()) << "messages are there";
  ASSERT_TRUE(put(8, 3));
  EXPECT_FALSE(woke_reader_);
}

TEST_F(ShmRingTest, OneWakeUpForAWriterOnceItsMessageFits) {
  make(4096);
  while (put(240, 0)) {
  }
  ASSERT_TRUE(writer_->arm(500));  // needs 528 bytes: three messages of 256
  for (const bool wakes : {false, false, true, false}) {
    ASSERT_TRUE(reader_->peek());
    EXPECT_EQ(reader_->pop(), wakes);
  }
  EXPECT_FALSE(writer_->arm(500)) << "it fits now";
  EXPECT_TRUE(put(500, 1));
}

TEST_F(ShmRingTest, AWriterThatDisarmsIsNotWoken) {
  make(4096);
  while (put(2032, 0)) {
  }
  ASSERT_TRUE(writer_->arm(2032));
  writer_->disarm();
  ASSERT_TRUE(reader_->peek());
  EXPECT_FALSE(reader_->pop());
}

TEST_F(ShmRingTest, ManyMessagesBetweenSpinningThreads) {
  make(64 * 1024);
  constexpr std::uint64_t kCount = 200'000;
  std::thread sender([&] {
    for (std::uint64_t i = 0; i < kCount;) {
      if (put(shm_test::length_of(i, 100), i)) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  std::uint64_t right = 0;
  for (std::uint64_t i = 0; i < kCount;) {
    auto message = reader_->peek();
    if (!message) {
      std::this_thread::yield();
      continue;
    }
    right += message->size() == shm_test::length_of(i, 100) && shm_test::is_filled(*message, i);
    ++i;
    EXPECT_FALSE(reader_->pop());
  }
  sender.join();
  EXPECT_EQ(right, kCount);
  EXPECT_TRUE(writer_->drained());
}

// Both ends sleep whenever they can, on a ring that holds three messages: each loses its wake-up soon if that is
// possible. The bell is an eventfd.
TEST_F(ShmRingTest, NoWakeUpIsLostBetweenSleepingThreads) {
  make(4096);
  constexpr std::uint64_t kCount = 50'000;
  const WakeFd reader_bell = WakeFd::create().value(), writer_bell = WakeFd::create().value();
  auto sleep_on = [](const WakeFd& bell) {
    pollfd waited{bell.get(), POLLIN, 0};
    const bool woken = ::poll(&waited, 1, shm_test::kPatienceMs) == 1;
    bell.drain();
    return woken;
  };
  std::uint64_t sent = 0, received = 0;
  std::thread sender([&] {
    while (sent < kCount) {
      if (put(1200, sent)) {
        ++sent;
        if (woke_reader_) reader_bell.signal();
      } else if (writer_->arm(1200) && !sleep_on(writer_bell)) {
        return;
      }
    }
  });
  while (received < kCount) {
    if (reader_->peek()) {
      ++received;
      if (reader_->pop()) writer_bell.signal();
    } else if (reader_->arm() && !sleep_on(reader_bell)) {
      break;
    }
  }
  sender.join();
  EXPECT_EQ(sent, kCount);
  EXPECT_EQ(received, kCount);
}

class HostileWriterTest : public ShmRingTest {
 protected:
  void expect_corruption(std::string_view part) {
    EXPECT_FALSE(reader_->peek());
    EXPECT_EQ(reader_->status().code(), StatusCode::kCorruption);
    EXPECT_NE(reader_->status().message().find(part), std::string::npos) << reader_->status().message();
    EXPECT_FALSE(reader_->arm()) << "nobody may sleep on a ring that has failed";
    EXPECT_FALSE(reader_->peek());
    EXPECT_FALSE(reader_->pop());
  }
};

TEST_F(HostileWriterTest, AHeadBeyondTheRing) {
  make(4096);
  header().head = 4096 + 16;
  expect_corruption("impossible head 4112");
}
TEST_F(HostileWriterTest, AHeadThatGoesBack) {
  make(4096);
  ASSERT_TRUE(put(100, 0) && reader_->peek());
  EXPECT_FALSE(reader_->pop());
  header().head = 0;
  expect_corruption("impossible head 0");
}
TEST_F(HostileWriterTest, AHeadBetweenRecords) {
  make(4096);
  header().head = 24;
  expect_corruption("impossible head 24");
}
TEST_F(HostileWriterTest, ALengthBeyondTheMessagesThatFit) {
  make(4096);
  store_le(ring(), std::uint64_t{2033});
  header().head = 2064;
  expect_corruption("impossible length 2033");
}
TEST_F(HostileWriterTest, ALengthThatWouldOverflow) {
  make(4096);
  store_le(ring(), ~std::uint64_t{0} - 8);
  header().head = 16;
  expect_corruption("impossible length");
}
TEST_F(HostileWriterTest, ALengthBeyondTheHead) {
  make(4096);
  store_le(ring(), std::uint64_t{100});
  header().head = 32;
  expect_corruption("half a message, of length 100");
}
TEST_F(HostileWriterTest, ASkipWithoutAMessage) {
  make(4096);
  store_le(ring(), kShmRingSkip);
  header().head = 4096;
  expect_corruption("a skip without a message");
}
TEST_F(HostileWriterTest, ATailBeyondTheHeadEndsTheWriter) {
  make(4096);
  while (put(240, 0)) {
  }
  header().tail = 4096 + 256;
  EXPECT_FALSE(put(240, 0));
  EXPECT_EQ(writer_->status().code(), StatusCode::kCorruption);
  EXPECT_NE(writer_->status().message().find("from 0 to 4352"), std::string::npos) << writer_->status().message();
  EXPECT_FALSE(writer_->arm(240)) << "nobody may sleep on a ring that has failed";
}

// Whatever is in the memory, the reader returns bytes inside of it or ends (the sanitizers watch).
TEST_F(HostileWriterTest, RandomMemoryNeverLeadsOutside) {
  std::mt19937_64 random(7);
  int ended = 0;
  for (int round = 0; round < 2000; ++round) {
    make(4096);
    for (std::size_t at = 0; at < 4096; at += 16) store_le(ring() + at, random() % 8 == 0 ? random() : random() % 400);
    header().head = random() % 257 * 16;
    while (auto message = reader_->peek()) {
      ASSERT_GE(message->data(), ring());
      ASSERT_LE(message->data() + message->size(), ring() + 4096);
      EXPECT_FALSE(reader_->pop());
    }
    ended += !reader_->status().ok();
  }
  EXPECT_GT(ended, 1000);
}

TEST(ShmRingFormatTest, RefusesWhatIsNoRing) {
  const std::size_t bytes = kShmRingDataOffset + 4096;
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(data, MAP_FAILED);
  const ShmMapping mapping(data, bytes);
  EXPECT_EQ(open_shm_ring(mapping, "zeros").status().code(), StatusCode::kCorruption);
  format_shm_ring(mapping, 8192);
  EXPECT_EQ(open_shm_ring(mapping, "longer than its file").status().code(), StatusCode::kCorruption);
  format_shm_ring(mapping, 4096);
  EXPECT_TRUE(open_shm_ring(mapping, "good").ok());
  open_shm_ring(mapping, "used").value()->head = 16;
  EXPECT_EQ(open_shm_ring(mapping, "used").status().code(), StatusCode::kCorruption);
}

TEST(ShmRingFormatTest, CapacitiesArePowersOfTwoWithinLimits) {
  for (const std::size_t good : {std::size_t{4096}, kDefaultShmRingBytes, kMaxShmRingBytes}) {
    EXPECT_TRUE(check_shm_ring_capacity(good).ok()) << good;
  }
  for (const std::size_t bad : {std::size_t{0}, std::size_t{2048}, std::size_t{5000}, kMaxShmRingBytes * 2}) {
    EXPECT_EQ(check_shm_ring_capacity(bad).code(), StatusCode::kInvalidArgument) << bad;
  }
}

}  // namespace
}  // namespace isthmus
