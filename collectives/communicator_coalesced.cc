// Calls over many buffers: large ones are operations of their own, small neighbours of one type are packed in one.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "collectives/call_checks.h"
#include "collectives/communicator.h"

namespace isthmus {
namespace {

// Unpacking is done on the progress thread, which may take 1 ms: these bytes are copied in some 50 us.
constexpr std::size_t kMaxPackBytes = 256 * 1024;
// A buffer of more than this is no smaller a share of its operation's cost than its bytes are.
constexpr std::size_t kMaxPackedBufferBytes = 64 * 1024;

// Consecutive buffers that travel in one operation.
struct Pack {
  std::size_t first = 0;  // index of the first
  std::vector<BufferPair> buffers;
  std::size_t count = 0;  // elements of all, per block
};

// What a pack sends and receives, laid out block by block: a block has that of every buffer, one after the other.
struct PackMemory {
  Pack pack;
  std::size_t element_bytes = 0;
  std::vector<std::byte> send, recv;

  // Calls `visit(place in the packed memory, offset in the buffer, bytes, buffer)` for each piece of `blocks` blocks.
  template <typename Visit>
  void for_each_piece(std::size_t blocks, Visit visit) const {
    std::size_t at = 0;
    for (std::size_t block = 0; block < blocks; ++block) {
      for (const BufferPair& buffer : pack.buffers) {
        const std::size_t bytes = buffer.count * element_bytes;
        if (bytes > 0) visit(at, block * bytes, bytes, buffer);
        at += bytes;
      }
    }
  }
};

// Packs depend on the counts and types alone, so all ranks make the same. A pack of one buffer is the buffer itself.
std::vector<Pack> make_packs(std::span<const BufferPair> buffers, std::size_t blocks) {
  std::vector<Pack> packs;
  for (std::size_t index = 0; index < buffers.size(); ++index) {
    const BufferPair& buffer = buffers[index];
    const std::size_t element = dtype_size_bytes(buffer.type);
    const std::size_t most = kMaxPackBytes / element / blocks;
    const bool is_small = buffer.count <= std::min(most, kMaxPackedBufferBytes / element / blocks);
    const bool joins = is_small && !packs.empty() && packs.back().count + buffer.count <= most &&
                       packs.back().buffers.front().type == buffer.type;
    if (!joins) packs.emplace_back(index);
    packs.back().buffers.push_back(buffer);
    packs.back().count += buffer.count;
  }
  return packs;
}

template <typename Launch>
Result<std::vector<Launch>> one(Result<Launch> prepared) {
  ISTHMUS_ASSIGN_OR_RETURN(Launch launch, std::move(prepared));
  std::vector<Launch> launches;
  launches.push_back(std::move(launch));
  return launches;
}

}  // namespace

Communicator::WorkResult Communicator::coalesced(const char* words, std::span<const BufferPair> buffers,
                                                 Packing packing, const PrepareBuffer& prepare,
                                                 const CallOptions& options) {
  ISTHMUS_RETURN_IF_ERROR(check_call(words, 0, DataType::kUInt8, 1));
  const auto ranks = static_cast<std::size_t>(size());
  std::vector<Launches> alone;
  for (const BufferPair& buffer : buffers) {
    Result<Launches> prepared = prepare(buffer);
    if (!prepared.ok()) return prepared.status().with_context(fmt::format("{}: buffer {}", words, alone.size()));
    alone.push_back(std::move(prepared).value());
  }
  const std::size_t send_blocks = packing == Packing::kScatteredBlocks ? ranks : 1,
                    recv_blocks = packing == Packing::kGatheredBlocks ? ranks : 1;
  Launches launches;
  for (Pack& pack : make_packs(buffers, std::max(send_blocks, recv_blocks))) {
    if (pack.buffers.size() == 1) {
      std::ranges::move(alone[pack.first], std::back_inserter(launches));
      continue;
    }
    auto memory = std::make_shared<PackMemory>();
    const DataType type = pack.buffers.front().type;
    const std::size_t count = pack.count;
    memory->element_bytes = dtype_size_bytes(type);
    memory->send.resize(send_blocks * count * memory->element_bytes);
    memory->recv.resize(recv_blocks * count * memory->element_bytes);
    memory->pack = std::move(pack);
    memory->for_each_piece(
        send_blocks, [&](std::size_t at, std::size_t offset, std::size_t bytes, const BufferPair& buffer) {
          std::memcpy(memory->send.data() + at, static_cast<const std::byte*>(buffer.send) + offset, bytes);
        });
    ISTHMUS_ASSIGN_OR_RETURN(Launches made, prepare({memory->send.data(), memory->recv.data(), count, type}));
    Launch& together = made.front();  // too small for parts
    std::vector<std::size_t> counts;
    for (const BufferPair& buffer : memory->pack.buffers) counts.push_back(buffer.count);
    together.descriptor.set_counts(counts);
    together.unpack = [memory, recv_blocks] {
      memory->for_each_piece(
          recv_blocks, [&](std::size_t at, std::size_t offset, std::size_t bytes, const BufferPair& buffer) {
            std::memcpy(static_cast<std::byte*>(buffer.recv) + offset, memory->recv.data() + at, bytes);
          });
    };
    launches.push_back(std::move(together));
  }
  return launch_together(fmt::format("{} of {} buffers", words, buffers.size()), launches, options);
}

Communicator::WorkResult Communicator::allreduce_coalesced(std::span<const BufferPair> buffers, ReduceOp op,
                                                           const CallOptions& options) {
  return coalesced(
      "allreduce_coalesced", buffers, Packing::kWhole,
      [&](const BufferPair& b) { return prepare_allreduce(b.send, b.recv, b.count, b.type, op); }, options);
}

Communicator::WorkResult Communicator::all_gather_coalesced(std::span<const BufferPair> buffers,
                                                            const CallOptions& options) {
  return coalesced(
      "all_gather_coalesced", buffers, Packing::kGatheredBlocks,
      [&](const BufferPair& b) {
        return one(prepare_all_gather(b.send, b.recv, Counts::equal(b.count, size()), b.type));
      },
      options);
}

Communicator::WorkResult Communicator::reduce_scatter_coalesced(std::span<const BufferPair> buffers, ReduceOp op,
                                                                const CallOptions& options) {
  return coalesced(
      "reduce_scatter_coalesced", buffers, Packing::kScatteredBlocks,
      [&](const BufferPair& b) {
        return one(prepare_reduce_scatter(b.send, b.recv, Counts::equal(b.count, size()), b.type, op));
      },
      options);
}

}  // namespace isthmus
