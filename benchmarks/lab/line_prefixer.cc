#include "benchmarks/lab/line_prefixer.h"

namespace isthmus::lab {
namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{64} << 10;

}  // namespace

std::string LinePrefixer::feed(std::string_view bytes) {
  std::string out;
  while (!bytes.empty()) {
    const std::size_t newline = bytes.find('\n');
    waiting_ += bytes.substr(0, newline);
    if (newline == std::string_view::npos) {
      if (waiting_.size() > kMaxLineBytes) out += flush();
      break;
    }
    out += prefix_ + waiting_ + '\n';
    waiting_.clear();
    bytes.remove_prefix(newline + 1);
  }
  return out;
}

std::string LinePrefixer::flush() {
  if (waiting_.empty()) return {};
  std::string out = prefix_ + waiting_ + '\n';
  waiting_.clear();
  return out;
}

}  // namespace isthmus::lab
