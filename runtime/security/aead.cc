#include "runtime/security/aead.h"

#include <openssl/evp.h>

#include <climits>

#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace isthmus {
namespace {

const EVP_CIPHER* cipher_of(CipherKind kind) {
  return kind == CipherKind::kAes256Gcm ? EVP_aes_256_gcm() : EVP_chacha20_poly1305();
}

const unsigned char* native(const std::byte* bytes) { return reinterpret_cast<const unsigned char*>(bytes); }
unsigned char* native(std::byte* bytes) { return reinterpret_cast<unsigned char*>(bytes); }

// Header, then body in place. The modes are stream ciphers: as many bytes come out as go in.
bool update(EVP_CIPHER_CTX* context, ConstBytes header, MutableBytes body) {
  int length = 0;
  const auto header_size = static_cast<int>(header.size()), body_size = static_cast<int>(body.size());
  if (header_size > 0 && EVP_CipherUpdate(context, nullptr, &length, native(header.data()), header_size) != 1) {
    return false;
  }
  if (body_size == 0) return true;
  return EVP_CipherUpdate(context, native(body.data()), &length, native(body.data()), body_size) == 1 &&
         length == body_size;
}

Status check_sizes(ConstBytes header, MutableBytes body) {
  if (header.size() <= INT_MAX && body.size() <= INT_MAX) return Status();
  return invalid_argument("{} bytes with a header of {}: the cipher takes at most {} of each", body.size(),
                          header.size(), INT_MAX);
}

}  // namespace

CipherKind preferred_cipher() {
#if defined(__x86_64__) || defined(__i386__)
  const bool has_aes = __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
#elif defined(__aarch64__)
  constexpr unsigned long kHasAes = 1ul << 3, kHasPmull = 1ul << 4;  // HWCAP_AES, HWCAP_PMULL
  const bool has_aes = (::getauxval(AT_HWCAP) & kHasAes) != 0 && (::getauxval(AT_HWCAP) & kHasPmull) != 0;
#else
  const bool has_aes = false;
#endif
  return has_aes ? CipherKind::kAes256Gcm : CipherKind::kChaCha20Poly1305;
}

void Aead::Free::operator()(evp_cipher_ctx_st* context) const { EVP_CIPHER_CTX_free(context); }

Result<Aead> Aead::create(CipherKind kind, Direction direction, const Key& key) {
  Aead aead(EVP_CIPHER_CTX_new());
  const int encrypts = direction == Direction::kSeal ? 1 : 0;
  if (aead.context_ == nullptr ||
      EVP_CipherInit_ex(aead.context_.get(), cipher_of(kind), nullptr, native(key.data()), nullptr, encrypts) != 1) {
    return internal_error("OpenSSL has no cipher of kind {}", static_cast<int>(kind));
  }
  return aead;
}

Status Aead::seal(const Nonce& nonce, ConstBytes header, MutableBytes body, std::byte* tag) {
  ISTHMUS_RETURN_IF_ERROR(check_sizes(header, body));
  EVP_CIPHER_CTX* context = context_.get();
  int length = 0;
  unsigned char rest[EVP_MAX_BLOCK_LENGTH];  // neither mode leaves any
  const bool sealed = EVP_EncryptInit_ex(context, nullptr, nullptr, nullptr, native(nonce.data())) == 1 &&
                      update(context, header, body) && EVP_EncryptFinal_ex(context, rest, &length) == 1 &&
                      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, kTagBytes, tag) == 1;
  if (sealed) return Status();
  erase_secret(body);  // half-sealed bytes must not be taken for sealed ones
  return internal_error("OpenSSL cannot seal {} bytes", body.size());
}

Status Aead::open(const Nonce& nonce, ConstBytes header, MutableBytes body, const std::byte* tag) {
  ISTHMUS_RETURN_IF_ERROR(check_sizes(header, body));
  EVP_CIPHER_CTX* context = context_.get();
  int length = 0;
  unsigned char rest[EVP_MAX_BLOCK_LENGTH];
  const bool opened =
      EVP_DecryptInit_ex(context, nullptr, nullptr, nullptr, native(nonce.data())) == 1 &&
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, kTagBytes, const_cast<std::byte*>(tag)) == 1 &&
      update(context, header, body) && EVP_DecryptFinal_ex(context, rest, &length) == 1;
  if (opened) return Status();
  erase_secret(body);
  return corruption("{} sealed bytes are not authentic", body.size());
}

}  // namespace isthmus
