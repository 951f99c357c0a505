#include "collectives/local/shm/shm_ring_writer.h"

namespace isthmus {

Result<ShmRingWriter> ShmRingWriter::attach(std::shared_ptr<ShmMapping> mapping, std::string name) {
  ISTHMUS_ASSIGN_OR_RETURN(ShmRingHeader * header, open_shm_ring(*mapping, name));
  return ShmRingWriter(std::move(mapping), header, std::move(name));
}

ShmRingWriter::ShmRingWriter(std::shared_ptr<ShmMapping> mapping, ShmRingHeader* header, std::string name)
    : mapping_(std::move(mapping)),
      header_(header),
      data_(mapping_->data() + kShmRingDataOffset),
      capacity_(mapping_->size() - kShmRingDataOffset),
      name_(std::move(name)) {}

std::uint64_t ShmRingWriter::needed_bytes(std::size_t message_bytes) const {
  const std::uint64_t record = shm_record_bytes(message_bytes);
  const std::uint64_t to_end = capacity_ - (head_ & (capacity_ - 1));
  return record <= to_end ? record : to_end + record;
}

void ShmRingWriter::refresh_tail() {
  const std::uint64_t tail = header_->tail.load(std::memory_order_seq_cst);
  if (tail - tail_ > head_ - tail_) {
    if (status_.ok()) {
      status_ = corruption("{}: the reader's tail went from {} to {}, past the head {}", name_, tail_, tail, head_);
    }
    return;
  }
  tail_ = tail;
}

bool ShmRingWriter::fits(std::uint64_t needed_bytes) {
  if (capacity_ - (head_ - tail_) >= needed_bytes) return status_.ok();
  refresh_tail();
  return status_.ok() && capacity_ - (head_ - tail_) >= needed_bytes;
}

std::optional<MutableBytes> ShmRingWriter::try_reserve(std::size_t bytes) {
  reserved_ = head_;
  if (bytes > max_message_bytes()) {
    status_ = invalid_argument("{}: a message of {} bytes; a ring of {} takes at most {}", name_, bytes, capacity_,
                               max_message_bytes());
    return {};
  }
  const std::uint64_t needed = needed_bytes(bytes), record = shm_record_bytes(bytes);
  if (!fits(needed)) return {};
  const std::uint64_t mask = capacity_ - 1;
  if (needed != record) store_le(data_ + (head_ & mask), kShmRingSkip);
  std::byte* start = data_ + ((head_ + needed - record) & mask);
  store_le(start, std::uint64_t{bytes});
  reserved_ = head_ + needed;
  return MutableBytes(start + kShmRecordAlign, bytes);
}

bool ShmRingWriter::commit() {
  if (reserved_ == head_) return false;
  head_ = reserved_;
  header_->head.store(head_, std::memory_order_seq_cst);
  return header_->reader_sleeps.load(std::memory_order_seq_cst) != 0 && header_->reader_sleeps.exchange(0) != 0;
}

bool ShmRingWriter::arm(std::size_t bytes) {
  const std::uint64_t needed = needed_bytes(bytes);
  header_->writer_needs.store(needed, std::memory_order_seq_cst);
  refresh_tail();
  if (status_.ok() && capacity_ - (head_ - tail_) < needed) return true;
  disarm();
  return false;
}

void ShmRingWriter::disarm() { header_->writer_needs.store(0, std::memory_order_relaxed); }

bool ShmRingWriter::drained() {
  if (tail_ != head_) refresh_tail();
  return tail_ == head_;
}

}  // namespace isthmus
