#include "collectives/local/shm/shm_ring_reader.h"

namespace isthmus {

Result<ShmRingReader> ShmRingReader::attach(std::shared_ptr<ShmMapping> mapping, std::string name) {
  ISTHMUS_ASSIGN_OR_RETURN(ShmRingHeader * header, open_shm_ring(*mapping, name));
  return ShmRingReader(std::move(mapping), header, std::move(name));
}

ShmRingReader::ShmRingReader(std::shared_ptr<ShmMapping> mapping, ShmRingHeader* header, std::string name)
    : mapping_(std::move(mapping)),
      header_(header),
      data_(mapping_->data() + kShmRingDataOffset),
      capacity_(mapping_->size() - kShmRingDataOffset),
      name_(std::move(name)) {}

std::optional<ConstBytes> ShmRingReader::fail(std::string_view what, std::uint64_t value) {
  status_ = corruption("{}: the writer left {} {} (tail {}, head {}, capacity {})", name_, what, value, tail_, head_,
                       capacity_);
  return {};
}

bool ShmRingReader::refresh_head() {
  if (!status_.ok()) return false;
  const std::uint64_t head = header_->head.load(std::memory_order_seq_cst);
  // Unsigned: a head that went back shows as one far ahead.
  if (head - tail_ > capacity_ || head - tail_ < head_ - tail_ || head % kShmRecordAlign != 0) {
    fail("an impossible head", head);
    return false;
  }
  head_ = head;
  return head_ != tail_;
}

std::optional<ConstBytes> ShmRingReader::peek() {
  if (head_ == tail_ && !refresh_head()) return {};
  if (!status_.ok()) return {};
  const std::uint64_t at = tail_ & (capacity_ - 1);
  const auto length = load_le<std::uint64_t>(data_ + at);
  if (length != kShmRingSkip) return take(tail_, length);
  // A skip and the message after it are published together, so the message must be there.
  const std::uint64_t start = tail_ + (capacity_ - at);
  if (head_ - tail_ <= capacity_ - at) return fail("a skip without a message, at", at);
  return take(start, load_le<std::uint64_t>(data_));
}

// `length` was read once: what is checked is what is used.
std::optional<ConstBytes> ShmRingReader::take(std::uint64_t at, std::uint64_t length) {
  if (length > shm_max_message_bytes(capacity_)) return fail("a message of impossible length", length);
  const std::uint64_t record = shm_record_bytes(length), offset = at & (capacity_ - 1);
  if (record > head_ - at || record > capacity_ - offset) return fail("half a message, of length", length);
  next_ = at + record;
  return ConstBytes(data_ + offset + kShmRecordAlign, length);
}

bool ShmRingReader::pop() {
  if (next_ == tail_ || !status_.ok()) return false;
  tail_ = next_;
  header_->tail.store(tail_, std::memory_order_seq_cst);
  const std::uint64_t needs = header_->writer_needs.load(std::memory_order_seq_cst);
  if (needs == 0) return false;
  // The writer announced its need after its last message, so this head is its last.
  const std::uint64_t head = header_->head.load(std::memory_order_seq_cst);
  return capacity_ - (head - tail_) >= needs && header_->writer_needs.exchange(0) != 0;
}

bool ShmRingReader::arm() {
  header_->reader_sleeps.store(1, std::memory_order_seq_cst);
  if (head_ == tail_ && !refresh_head() && status_.ok()) return true;
  disarm();
  return false;
}

void ShmRingReader::disarm() { header_->reader_sleeps.store(0, std::memory_order_relaxed); }

}  // namespace isthmus
