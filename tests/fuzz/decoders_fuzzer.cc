// The entry of libFuzzer: the first byte chooses the decoder.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/decoders.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto all = isthmus::fuzz::decoders();
  const auto& decoder = all[data[0] % all.size()];
  const std::string wrong = decoder.run({reinterpret_cast<const char*>(data) + 1, size - 1});
  if (wrong.empty()) return 0;
  std::fprintf(stderr, "%s: %s\n", decoder.name, wrong.c_str());
  std::abort();
}
