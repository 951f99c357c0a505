// Little-endian integers in byte buffers: the only place that knows the byte order of the wire.
//
// Threads: any thread, on its own buffers. Readers treat their input as hostile: a read past the end yields zeros and
// latches `ok() == false`, so a decoder checks once at the end.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace isthmus {

using ConstBytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

static_assert(std::endian::native == std::endian::little, "Isthmus is built for little-endian machines");

template <std::unsigned_integral T>
void store_le(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

template <std::unsigned_integral T>
T load_le(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

inline ConstBytes as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}
inline std::string_view as_text(ConstBytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Appends to a std::string that it does not own.
class ByteWriter {
 public:
  explicit ByteWriter(std::string* out) : out_(out) {}

  template <std::unsigned_integral T>
  void put(T value) {
    out_->append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  // A u32 length, then the bytes.
  void put_text(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    out_->append(text);
  }

 private:
  std::string* out_;
};

class ByteReader {
 public:
  explicit ByteReader(ConstBytes bytes) : bytes_(bytes) {}

  template <std::unsigned_integral T>
  T get() {
    if (bytes_.size() < sizeof(T)) return fail<T>();
    T value = load_le<T>(bytes_.data());
    bytes_ = bytes_.subspan(sizeof(T));
    return value;
  }
  // The view points into the reader's buffer.
  std::string_view get_text() {
    const auto length = get<std::uint32_t>();
    if (!ok_ || bytes_.size() < length) return fail<std::string_view>();
    std::string_view text = as_text(bytes_.first(length));
    bytes_ = bytes_.subspan(length);
    return text;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && bytes_.empty(); }

 private:
  template <typename T>
  T fail() {
    ok_ = false;
    bytes_ = {};
    return T{};
  }

  ConstBytes bytes_;
  bool ok_ = true;
};

}  // namespace isthmus
