// Aead: authenticated encryption under one key, in one direction: AES-256-GCM (NIST SP 800-38D) or ChaCha20-Poly1305
// (RFC 8439).
//
// Threads: one thread at a time. Cost: create() allocates a context; seal() and open() allocate nothing.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/security/key_derivation.h"

struct evp_cipher_ctx_st;

namespace isthmus {

enum class CipherKind : std::uint8_t { kAes256Gcm = 1, kChaCha20Poly1305 = 2 };

// AES where the processor has instructions for it and for GCM's products, else ChaCha20.
CipherKind preferred_cipher();

class Aead {
 public:
  static constexpr std::size_t kTagBytes = 16;
  using Nonce = std::array<std::byte, 12>;
  enum class Direction { kSeal, kOpen };

  static Result<Aead> create(CipherKind kind, Direction direction, const Key& key);

  // In place. A nonce serves once in the life of a key: the caller sees to it.
  Status seal(const Nonce& nonce, ConstBytes header, MutableBytes body, std::byte* tag);
  // corruption: header, body, tag, nonce or key is not what was sealed; the body is then zeros.
  Status open(const Nonce& nonce, ConstBytes header, MutableBytes body, const std::byte* tag);

 private:
  struct Free {
    void operator()(evp_cipher_ctx_st* context) const;
  };
  explicit Aead(evp_cipher_ctx_st* context) : context_(context) {}

  std::unique_ptr<evp_cipher_ctx_st, Free> context_;
};

}  // namespace isthmus
