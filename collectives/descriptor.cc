#include "collectives/descriptor.h"

#include <fmt/ranges.h>

#include "runtime/base/bytes.h"
#include "runtime/link/channel.h"

namespace isthmus {
namespace {

// Seven bits per byte, the lowest first; the high bit says that more follow.
std::string encode_count(std::uint64_t count) {
  std::string bytes;
  for (; count >= 0x80; count >>= 7) bytes.push_back(static_cast<char>(count | 0x80));
  bytes.push_back(static_cast<char>(count));
  return bytes;
}

bool decode_count(ByteReader* reader, std::uint64_t* count) {
  *count = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const auto byte = reader->get<std::uint8_t>();
    if (!reader->ok()) return false;
    *count |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

// FNV-1a over the numbers of a list.
std::uint64_t digest_of(std::span<const std::size_t> counts) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::size_t count : counts)
    for (unsigned shift = 0; shift < 64; shift += 8) hash = (hash ^ (count >> shift & 0xff)) * 0x100000001b3u;
  return hash;
}

}  // namespace

void Descriptor::set_counts(std::span<const std::size_t> counts) {
  count = 0;
  first_counts.clear();
  for (const std::size_t one : counts) count += one;
  counts_digest = digest_of(counts);
  std::size_t room = kMaxDescriptorBytes - encode().size() - sizeof(counts_digest);
  for (const std::size_t one : counts) {
    const std::size_t bytes = encode_count(one).size();
    if (bytes > room) break;
    room -= bytes;
    first_counts.push_back(one);
  }
}

std::string Descriptor::encode() const {
  std::string bytes;
  ByteWriter writer(&bytes);
  writer.put(static_cast<std::uint8_t>(kind));
  writer.put(static_cast<std::uint8_t>(type));
  writer.put(static_cast<std::uint8_t>(op));
  writer.put(algorithm);
  writer.put(root);
  writer.put(count);
  writer.put(chunk_bytes);
  if (first_counts.empty()) return bytes;
  writer.put(counts_digest);
  for (const std::uint64_t one : first_counts) bytes += encode_count(one);
  return bytes;
}

Result<Descriptor> Descriptor::decode(std::string_view bytes) {
  ByteReader reader(as_bytes(bytes));
  Descriptor descriptor;
  const auto kind = reader.get<std::uint8_t>();
  const auto type = reader.get<std::uint8_t>();
  const auto op = reader.get<std::uint8_t>();
  descriptor.algorithm = reader.get<std::uint8_t>();
  descriptor.root = reader.get<std::uint32_t>();
  descriptor.count = reader.get<std::uint64_t>();
  descriptor.chunk_bytes = reader.get<std::uint64_t>();
  bool is_whole = reader.ok();
  if (is_whole && !reader.at_end()) {
    descriptor.counts_digest = reader.get<std::uint64_t>();
    is_whole = reader.ok() && !reader.at_end();
  }
  while (is_whole && !reader.at_end()) is_whole = decode_count(&reader, &descriptor.first_counts.emplace_back());
  if (!is_whole || kind < 1 || kind > kLastOperationKind || !is_valid_dtype(type) || !is_valid_reduce_op(op))
    return corruption("operation descriptor of {} bytes is malformed", bytes.size());
  descriptor.kind = static_cast<OperationKind>(kind);
  descriptor.type = static_cast<DataType>(type);
  descriptor.op = static_cast<ReduceOp>(op);
  return descriptor;
}

std::string Descriptor::words() const {
  std::string data = fmt::format("{} {}", count, dtype_name(type));
  if (!first_counts.empty())
    data += fmt::format(" in blocks of {}, ... (all counts together: {:016x})", fmt::join(first_counts, ", "),
                        counts_digest);
  switch (kind) {
    case OperationKind::kAllreduce:
      return fmt::format("allreduce({}) of {} (algorithm {}, chunks of {} bytes, plan {})", reduce_op_name(op), data,
                         algorithm, chunk_bytes, root);
    case OperationKind::kBroadcast: return fmt::format("broadcast of {} from root {}", data, root);
    case OperationKind::kAllGather: return fmt::format("all_gather of {} per rank", data);
    case OperationKind::kReduceScatter:
      return fmt::format("reduce_scatter({}) of {} per rank", reduce_op_name(op), data);
    case OperationKind::kBarrier: return "barrier";
    case OperationKind::kPointToPoint: return fmt::format("message of {}", data);
    case OperationKind::kReduce: return fmt::format("reduce({}) of {} to root {}", reduce_op_name(op), data, root);
    case OperationKind::kAllGatherV: return fmt::format("all_gather_v of {}", data);
    case OperationKind::kReduceScatterV: return fmt::format("reduce_scatter_v({}) of {}", reduce_op_name(op), data);
    case OperationKind::kGather: return fmt::format("gather of {} per rank to root {}", data, root);
    case OperationKind::kGatherV: return fmt::format("gather_v of {} to root {}", data, root);
    case OperationKind::kScatter: return fmt::format("scatter of {} per rank from root {}", data, root);
    case OperationKind::kScatterV: return fmt::format("scatter_v of {} from root {}", data, root);
    case OperationKind::kAllToAll: return fmt::format("all_to_all of {} per pair of ranks", data);
    case OperationKind::kSubset:
      return fmt::format("subset of {} ranks: {}, ... (the list: {:016x})", count, fmt::join(first_counts, ", "),
                         counts_digest);
    case OperationKind::kAllToAllV: return fmt::format("all_to_all_v of {}", dtype_name(type));
  }
  return "unknown operation";
}

}  // namespace isthmus
