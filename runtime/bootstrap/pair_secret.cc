#include "runtime/bootstrap/pair_secret.h"

#include <algorithm>

#include "runtime/base/bytes.h"
#include "runtime/security/key_derivation.h"

namespace isthmus {
namespace {

constexpr std::size_t kFingerprintBytes = 16;

// Tells secrets apart and gives nothing away.
Result<std::string> fingerprint(const Key& key) {
  std::string text(kFingerprintBytes, '\0');
  ISTHMUS_RETURN_IF_ERROR(
      hkdf_sha256(key, {}, "isthmus pair 1", {reinterpret_cast<std::byte*>(text.data()), text.size()}));
  return text;
}

}  // namespace

PairSecret::~PairSecret() {
  if (key_) erase_secret(*key_);
}

Result<std::optional<Key>> PairSecret::exported(ControlStream& stream, ProcessId dialler, ProcessId acceptor) {
  std::string ids;
  ByteWriter writer(&ids);
  writer.put(dialler);
  writer.put(acceptor);
  const Result<Key> key = stream.export_secret("pair", ids);
  if (key.ok()) return std::optional<Key>(*key);
  if (key.status().code() == StatusCode::kUnsupported) return std::optional<Key>();
  return key.status();
}

std::string PairSecret::hello() const {
  if (!key_) return {};
  const Result<std::string> text = fingerprint(*key_);
  return text.ok() ? *text : std::string();  // the welcome then brings the secret once more
}

Status PairSecret::take_welcome(std::string_view welcome, const std::optional<Key>& exported) {
  if (!exported || (welcome.empty() && key_)) return Status();
  Key key = *exported;
  if (!welcome.empty()) {
    if (welcome.size() != key.size()) return corruption("a welcome with {} bytes of secret", welcome.size());
    std::copy_n(as_bytes(welcome).begin(), key.size(), key.begin());
  }
  if (key_ && !equal_in_constant_time(*key_, key)) return corruption("the peer has another secret for this pair");
  key_ = key;
  return Status();
}

Result<std::string> PairSecret::answer_hello(std::string_view hello, const std::optional<Key>& exported) {
  if (!exported) return std::string();
  if (!key_) {
    if (!hello.empty()) return corruption("the peer has a secret for this pair, this side has none");
    key_ = exported;
    return std::string();
  }
  if (hello.empty()) return std::string(as_text(*key_));
  ISTHMUS_ASSIGN_OR_RETURN(const std::string mine, fingerprint(*key_));
  if (!equal_in_constant_time(as_bytes(mine), as_bytes(hello))) {
    return corruption("the peer has another secret for this pair");
  }
  return std::string();
}

}  // namespace isthmus
