#include "tests/fuzz/decoders.h"

#include <gtest/gtest.h>

#include <random>

namespace isthmus::fuzz {
namespace {

constexpr int kMutationsPerDecoder = 20'000;

// One to four changes: a bit, a byte, a length that is a lie, a piece removed, doubled or put in, the end cut off.
std::string mutate(std::string bytes, std::mt19937& random) {
  for (unsigned change = 1 + random() % 4; change > 0; --change) {
    if (bytes.empty()) bytes = "x";
    const std::size_t at = random() % bytes.size(), count = std::min<std::size_t>(bytes.size() - at, random() % 9);
    switch (random() % 7) {
      case 0: bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8)); break;
      case 1: bytes[at] = static_cast<char>(random()); break;
      case 2: bytes.replace(at, std::min<std::size_t>(4, bytes.size() - at), std::string(4, '\xff')); break;
      case 3: bytes.erase(at, count); break;
      case 4: bytes.insert(at, bytes.substr(at, count)); break;
      case 5: bytes.insert(at, 1 + random() % 8, static_cast<char>(random())); break;
      default: bytes.resize(at); break;
    }
  }
  return bytes;
}

class DecoderFuzzTest : public ::testing::TestWithParam<Decoder> {};

TEST_P(DecoderFuzzTest, ValidMessagesPass) {
  for (const std::string& bytes : GetParam().valid()) EXPECT_EQ(GetParam().run(bytes), "");
}

TEST_P(DecoderFuzzTest, MutationsDoNoHarm) {
  std::mt19937 random(1);
  std::vector<std::string> pool = GetParam().valid();
  for (int i = 0; i < kMutationsPerDecoder; ++i) {
    const std::string bytes = mutate(pool[random() % pool.size()], random);
    ASSERT_EQ(GetParam().run(bytes), "") << "mutation " << i;
    if (i % 50 == 0 && pool.size() < 200) pool.push_back(bytes);  // changes of changes
  }
}

TEST_P(DecoderFuzzTest, NoiseDoesNoHarm) {
  std::mt19937 random(2);
  for (int i = 0; i < 2'000; ++i) {
    std::string bytes(random() % 200, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    ASSERT_EQ(GetParam().run(bytes), "") << "noise " << i;
  }
}

std::string name_of(const ::testing::TestParamInfo<Decoder>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Control, DecoderFuzzTest,
                         ::testing::ValuesIn(control_decoders().begin(), control_decoders().end()), name_of);
INSTANTIATE_TEST_SUITE_P(Link, DecoderFuzzTest, ::testing::ValuesIn(link_decoders().begin(), link_decoders().end()),
                         name_of);

}  // namespace
}  // namespace isthmus::fuzz
