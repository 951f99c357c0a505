#include "runtime/bootstrap/sealed_store.h"

#include "runtime/base/bytes.h"
#include "runtime/security/aead.h"

namespace isthmus {
namespace {

constexpr std::size_t kSaltBytes = 32;
constexpr std::size_t kOverheadBytes = kSealedMagic.size() + kSaltBytes + Aead::kTagBytes;
constexpr Aead::Nonce kNonce{};  // a key serves for one value

MutableBytes as_mutable(std::string& text) { return {reinterpret_cast<std::byte*>(text.data()), text.size()}; }

Result<Aead> aead_for(const JobSecret& secret, ConstBytes salt, Aead::Direction direction) {
  Key key;
  ISTHMUS_RETURN_IF_ERROR(secret.derive("store value", salt, key));
  Result<Aead> aead = Aead::create(CipherKind::kAes256Gcm, direction, key);
  erase_secret(key);
  return aead;
}

}  // namespace

std::string SealedStore::header_of(std::string_view key) const {
  std::string header;
  ByteWriter writer(&header);
  writer.put_text(group_);
  writer.put_text(key);
  return header;
}

Status SealedStore::set(std::string_view key, std::string_view value, TimePoint deadline) {
  std::string salt(kSaltBytes, '\0'), body(value), tag(Aead::kTagBytes, '\0');
  ISTHMUS_RETURN_IF_ERROR(random_bytes(as_mutable(salt)));
  ISTHMUS_ASSIGN_OR_RETURN(Aead aead, aead_for(secret_, as_bytes(salt), Aead::Direction::kSeal));
  ISTHMUS_RETURN_IF_ERROR(aead.seal(kNonce, as_bytes(header_of(key)), as_mutable(body), as_mutable(tag).data()));
  return store_->set(key, std::string(kSealedMagic) + salt + body + tag, deadline);
}

Result<std::string> SealedStore::get(std::string_view key, TimePoint deadline) {
  ISTHMUS_ASSIGN_OR_RETURN(const std::string value, store_->get(key, deadline));
  if (!value.starts_with(kSealedMagic)) {
    return invalid_argument("authentication failed: key \"{}\" was written without a job secret, this process has one",
                            key);
  }
  if (value.size() < kOverheadBytes) {
    return invalid_argument("authentication failed: the value of key \"{}\" is cut off", key);
  }
  const std::string_view salt = std::string_view(value).substr(kSealedMagic.size(), kSaltBytes);
  std::string body = value.substr(kSealedMagic.size() + kSaltBytes, value.size() - kOverheadBytes);
  const ConstBytes tag = as_bytes(value).last(Aead::kTagBytes);
  ISTHMUS_ASSIGN_OR_RETURN(Aead aead, aead_for(secret_, as_bytes(salt), Aead::Direction::kOpen));
  if (!aead.open(kNonce, as_bytes(header_of(key)), as_mutable(body), tag.data()).ok()) {
    return invalid_argument(
        "authentication failed: key \"{}\" was not written with this process's job secret: the two sides have "
        "different ones",
        key);
  }
  return body;
}

Result<std::unique_ptr<Store>> SealedStore::clone() {
  ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<Store> store, store_->clone());
  auto copy = std::make_unique<SealedStore>(store.get(), secret_, group_);
  copy->owned_ = std::move(store);
  return std::unique_ptr<Store>(std::move(copy));
}

}  // namespace isthmus
