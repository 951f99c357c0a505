// A FIFO in one block of memory that grows to the largest size ever needed and allocates nothing after that.
//
// Threads: one thread at a time.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace isthmus {

template <typename T>
class RingQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  // Only when not empty.
  T& front() { return slots_[head_]; }
  const T& front() const { return slots_[head_]; }

  void push(T value) {
    if (size_ == slots_.size()) grow();
    slots_[(head_ + size_) & (slots_.size() - 1)] = std::move(value);
    ++size_;
  }

  // Only when not empty.
  T pop() {
    T value = std::exchange(slots_[head_], T{});
    head_ = (head_ + 1) & (slots_.size() - 1);
    --size_;
    return value;
  }

 private:
  // The capacity is a power of two, so that a mask wraps an index.
  void grow() {
    std::vector<T> larger(slots_.empty() ? 16 : 2 * slots_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move(slots_[(head_ + i) & (slots_.size() - 1)]);
    slots_ = std::move(larger);
    head_ = 0;
  }

  std::vector<T> slots_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace isthmus
