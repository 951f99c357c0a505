#include "tests/collectives/schedule/world.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <set>

#include "runtime/device/half.h"
#include "tests/support/schedule_check.h"
#include "tests/support/schedule_executor.h"

namespace isthmus::testing {
namespace {

template <typename T>
void store_value(Buffer* buffer, std::size_t index, T value) {
  std::memcpy(buffer->data() + index * sizeof(T), &value, sizeof(T));
}

void store_number(DataType type, Buffer* buffer, std::size_t index, double value) {
  switch (type) {
    case DataType::kFloat32: return store_value(buffer, index, static_cast<float>(value));
    case DataType::kFloat64: return store_value(buffer, index, value);
    case DataType::kFloat16: return store_value(buffer, index, fp16_from_float(static_cast<float>(value)));
    case DataType::kBFloat16: return store_value(buffer, index, bf16_from_float(static_cast<float>(value)));
    case DataType::kInt8: return store_value(buffer, index, static_cast<std::int8_t>(value));
    case DataType::kUInt8: return store_value(buffer, index, static_cast<std::uint8_t>(std::abs(value)));
    case DataType::kInt16: return store_value(buffer, index, static_cast<std::int16_t>(value * 100));
    case DataType::kInt32: return store_value(buffer, index, static_cast<std::int32_t>(value * 1e6));
    case DataType::kInt64: return store_value(buffer, index, static_cast<std::int64_t>(value * 1e15));
    case DataType::kBool: return store_value(buffer, index, static_cast<std::uint8_t>(value > 0 ? 1 : 0));
    default: break;  // made of bits, or of parts
  }
}

}  // namespace

std::vector<Shape> all_shapes() {
  std::vector<Shape> shapes = uneven_shapes();
  for (int sites = 1; sites <= 8; ++sites) {
    for (int ranks = 1; ranks <= 4; ++ranks) {
      Shape shape{fmt::format("{}x{}", sites, ranks), {}};
      for (int rank = 0; rank < sites * ranks; ++rank) shape.site_of_rank.push_back(rank / ranks);
      shapes.push_back(std::move(shape));
    }
  }
  return shapes;
}

std::vector<Shape> uneven_shapes() {
  return {{"1+3+2", {0, 1, 1, 1, 2, 2}},
          {"4+1", {0, 0, 0, 0, 1}},
          {"1+4", {0, 1, 1, 1, 1}},
          {"1+1+3+2+1", {0, 1, 2, 2, 2, 3, 3, 4}},
          {"interleaved 3+2+1", {7, 5, 7, 3, 5, 7}},
          {"interleaved 2+2", {0, 1, 0, 1}}};
}

std::vector<std::size_t> lengths_for(const Shape& shape, std::size_t large) {
  const std::size_t ranks = shape.site_of_rank.size();
  const std::set<std::size_t> lengths = {0, 1, ranks - 1, ranks, ranks + 1, large};
  return {lengths.begin(), lengths.end()};
}

std::vector<std::size_t> equal_blocks(const SiteMap& sites, std::size_t size) {
  return std::vector<std::size_t>(static_cast<std::size_t>(sites.size()), size);
}

std::vector<std::size_t> uneven_blocks(const SiteMap& sites, std::size_t largest, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::size_t> sizes;
  for (int rank = 0; rank < sites.size(); ++rank) sizes.push_back(random() % 4 == 0 ? 0 : random() % (largest + 1));
  return sizes;
}

Buffer random_values(DataType type, std::size_t count, std::uint64_t seed) {
  if (type == DataType::kComplex64) return random_values(DataType::kFloat32, 2 * count, seed);
  if (type == DataType::kComplex128) return random_values(DataType::kFloat64, 2 * count, seed);
  if (is_float8(type)) return random_bits(count, seed);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> size(0.4, 1.7);
  Buffer values(count * dtype_size_bytes(type));
  for (std::size_t i = 0; i < count; ++i) {
    store_number(type, &values, i, (random() % 2 == 0 ? -1 : 1) * size(random) * (is_floating(type) ? 1 : 40));
  }
  return values;
}

Buffer random_bits(std::size_t bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  // Bytes that make special numbers are frequent.
  const std::byte special[] = {std::byte{0},    std::byte{0x7f}, std::byte{0x80},
                               std::byte{0xff}, std::byte{0x7c}, std::byte{0xf0}};
  Buffer bits(bytes);
  for (std::byte& byte : bits) {
    byte = random() % 2 == 0 ? special[random() % std::size(special)] : static_cast<std::byte>(random());
  }
  return bits;
}

std::vector<Schedule> build_all(const SiteMap& sites, const BuildSchedule& build) {
  std::vector<Schedule> schedules;
  for (int rank = 0; rank < sites.size(); ++rank) schedules.push_back(build(rank));
  return schedules;
}

std::vector<Buffer> run_world(const SiteMap& sites, const std::vector<BufferLayout>& layouts,
                              const BuildSchedule& build, const std::vector<Buffer>& inputs, std::uint64_t seed) {
  const std::vector<Schedule> schedules = build_all(sites, build);
  EXPECT_EQ(find_defect(schedules, layouts), "");
  std::vector<ScheduleMemory> memories;
  for (std::size_t rank = 0; rank < schedules.size(); ++rank) {
    memories.emplace_back(layouts[rank], schedules[rank].scratch_bytes);
    std::ranges::copy(inputs[rank], memories[rank].input().begin());
  }
  const SendMode mode = seed % 2 == 0 ? SendMode::kEager : SendMode::kRendezvous;
  EXPECT_EQ(ScheduleExecutor(schedules, &memories, mode, seed).run(), "");
  std::vector<Buffer> outputs;
  for (ScheduleMemory& memory : memories) outputs.emplace_back(memory.output().begin(), memory.output().end());
  return outputs;
}

}  // namespace isthmus::testing
