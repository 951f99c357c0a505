#include "collectives/descriptor.h"

#include "runtime/base/bytes.h"

namespace isthmus {

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
  if (!reader.at_end() || kind < 1 || kind > 6 || !is_valid_dtype(type) || !is_valid_reduce_op(op))
    return corruption("operation descriptor of {} bytes is malformed", bytes.size());
  descriptor.kind = static_cast<OperationKind>(kind);
  descriptor.type = static_cast<DataType>(type);
  descriptor.op = static_cast<ReduceOp>(op);
  return descriptor;
}

std::string Descriptor::words() const {
  const std::string data = fmt::format("{} {}", count, dtype_name(type));
  switch (kind) {
    case OperationKind::kAllreduce:
      return fmt::format("allreduce({}) of {} (algorithm {}, chunks of {} bytes)", reduce_op_name(op), data, algorithm,
                         chunk_bytes);
    case OperationKind::kBroadcast: return fmt::format("broadcast of {} from root {}", data, root);
    case OperationKind::kAllGather: return fmt::format("all_gather of {} per rank", data);
    case OperationKind::kReduceScatter:
      return fmt::format("reduce_scatter({}) of {} per rank", reduce_op_name(op), data);
    case OperationKind::kBarrier: return "barrier";
    case OperationKind::kPointToPoint: return fmt::format("message of {}", data);
  }
  return "unknown operation";
}

}  // namespace isthmus
