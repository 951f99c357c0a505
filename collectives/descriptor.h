// Descriptor: what an operation is, in the few bytes that travel with its first segment, so that ranks which call
// different things find out before data is mixed.
//
// Threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/base/status.h"

namespace isthmus {

enum class OperationKind : std::uint8_t {  // on the wire: never renumber
  kAllreduce = 1,
  kBroadcast = 2,
  kAllGather = 3,
  kReduceScatter = 4,
  kBarrier = 5,
  kPointToPoint = 6,
  kReduce = 7,
  kAllGatherV = 8,
  kReduceScatterV = 9,
  kGather = 10,
  kGatherV = 11,
  kScatter = 12,
  kScatterV = 13,
  kAllToAll = 14,
  kAllToAllV = 15,
  kSubset = 16,
};
inline constexpr std::uint8_t kLastOperationKind = 16;

struct Descriptor {
  OperationKind kind = OperationKind::kBarrier;
  DataType type = DataType::kUInt8;
  ReduceOp op = ReduceOp::kSum;
  std::uint8_t algorithm = 0;
  std::uint32_t root = 0;  // of an allreduce: the version of the plan
  std::uint64_t count = 0;
  std::uint64_t chunk_bytes = 0;
  // Of blocks that differ in size: `count` is their sum, and all counts must be equal.
  std::uint64_t counts_digest = 0;
  std::vector<std::uint64_t> first_counts;  // as many as have room, for messages; empty: blocks are equal

  void set_counts(std::span<const std::size_t> counts);
  std::string encode() const;
  static Result<Descriptor> decode(std::string_view bytes);
  std::string words() const;  // "broadcast of 10 fp32 from root 1"
};

}  // namespace isthmus
