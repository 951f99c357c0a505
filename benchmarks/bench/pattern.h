// Pattern: what the ranks send, and so what each must receive. The values are small integers, chosen so that the result
// of every operator is exact in the element type: a right result has exactly one encoding, and is compared byte by
// byte.
//
// The elements repeat with a period that no chunk or segment is a multiple of, so that data in the wrong place is wrong
// data. Cost: building is kPeriod x ranks operations; filling and comparing run at memory speed.
//
// Threads: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/dtype.h"
#include "runtime/base/status.h"

namespace isthmus::bench {

class Pattern {
 public:
  static constexpr std::size_t kPeriod = 65521;  // a prime

  // unsupported: the type is too narrow for an exact result over so many ranks.
  static Result<Pattern> create(DataType type, ReduceOp op, int ranks);

  // What `rank` passes as its factor of a kPremulSum: 1, 2, 1, 2...
  static double factor(int rank) { return 1 + rank % 2; }

  // One period of elements, encoded.
  std::vector<std::byte> of_rank(int rank, std::uint64_t seed) const;
  std::vector<std::byte> reduced(std::uint64_t seed) const;

  // Writes elements first, first + 1, ... of the endless repetition of `period` into `buffer`.
  void fill(MutableBytes buffer, const std::vector<std::byte>& period, std::size_t first) const;

  // How many elements of `buffer` differ from what fill() would have written.
  std::uint64_t count_wrong(ConstBytes buffer, const std::vector<std::byte>& period, std::size_t first) const;

 private:
  Pattern(DataType type, ReduceOp op, int ranks, std::int64_t values)
      : type_(type), op_(op), ranks_(ranks), values_(values) {}
  std::int64_t value(int rank, std::uint64_t noise) const;
  std::int64_t reduced_value(std::uint64_t noise) const;

  DataType type_;
  ReduceOp op_;
  int ranks_;
  std::int64_t values_;  // a sum's addends are below this
};

}  // namespace isthmus::bench
