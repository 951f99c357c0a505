#include "runtime/security/key_derivation.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <memory>

namespace isthmus {
namespace {

struct FreeKdf {
  void operator()(EVP_KDF* kdf) const { EVP_KDF_free(kdf); }
  void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
};

OSSL_PARAM octets(const char* name, ConstBytes bytes) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<std::byte*>(bytes.data()), bytes.size());
}

const unsigned char* native(ConstBytes bytes) { return reinterpret_cast<const unsigned char*>(bytes.data()); }

}  // namespace

Status hkdf_sha256(ConstBytes secret, ConstBytes salt, std::string_view info, MutableBytes out) {
  const std::unique_ptr<EVP_KDF, FreeKdf> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  const std::unique_ptr<EVP_KDF_CTX, FreeKdf> context(EVP_KDF_CTX_new(kdf.get()));
  char digest[] = "SHA256";
  OSSL_PARAM parameters[5] = {OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
                              octets(OSSL_KDF_PARAM_KEY, secret), octets(OSSL_KDF_PARAM_INFO, as_bytes(info)),
                              OSSL_PARAM_construct_end(), OSSL_PARAM_construct_end()};
  if (!salt.empty()) parameters[3] = octets(OSSL_KDF_PARAM_SALT, salt);
  auto* to = reinterpret_cast<unsigned char*>(out.data());
  if (context == nullptr || EVP_KDF_derive(context.get(), to, out.size(), parameters) != 1) {
    return internal_error("OpenSSL derives no key (HKDF, {} bytes)", out.size());
  }
  return Status();
}

Status hmac_sha256(ConstBytes key, ConstBytes message, Key* out) {
  unsigned length = 0;
  const bool made = HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), native(message), message.size(),
                         reinterpret_cast<unsigned char*>(out->data()), &length) != nullptr;
  if (!made || length != out->size()) return internal_error("OpenSSL makes no HMAC of {} bytes", message.size());
  return Status();
}

Status random_bytes(MutableBytes out) {
  if (RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(out.size())) == 1) return Status();
  return internal_error("OpenSSL has no random bytes");
}

bool equal_in_constant_time(ConstBytes a, ConstBytes b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void erase_secret(MutableBytes bytes) { OPENSSL_cleanse(bytes.data(), bytes.size()); }

}  // namespace isthmus
