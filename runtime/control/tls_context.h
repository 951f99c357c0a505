// TlsContext: TLS 1.3 as Isthmus uses it: an external pre-shared key, made of the job's secret, with ephemeral
// Diffie-Hellman (RFC 8446, psk_dhe_ke); no certificates, no tickets, no early data, no other version.
//
// Both sides prove that they have the secret before anything else is said, and what is recorded stays closed when the
// secret leaks later. The key's identity on the wire is a constant of the protocol.
//
// Threads: any thread; the object does not change.
#pragma once

#include <array>
#include <memory>
#include <string_view>

#include "runtime/base/status.h"
#include "runtime/security/aead.h"
#include "runtime/security/job_secret.h"

struct ssl_ctx_st;
struct ssl_st;
struct ssl_session_st;

namespace isthmus {

class TlsContext {
 public:
  enum class Role { kClient, kServer };

  // A client offers `cipher`; a server takes either.
  static Result<std::shared_ptr<const TlsContext>> create(const JobSecret& secret, CipherKind cipher);
  ~TlsContext();

  // A connection that has not begun; the caller owns it. nullptr: out of memory.
  ssl_st* new_connection(Role role) const;

 private:
  struct FreeContext {
    void operator()(ssl_ctx_st* context) const;
  };
  using ContextPtr = std::unique_ptr<ssl_ctx_st, FreeContext>;
  // A pre-shared key is bound to a hash function, and so to a suite.
  struct SuiteKey {
    std::array<std::byte, 48> bytes{};
    std::size_t size = 0;
  };

  explicit TlsContext(CipherKind cipher) : cipher_(cipher) {}
  Status derive_keys(const JobSecret& secret);
  Result<ContextPtr> make_context(Role role) const;
  ssl_session_st* session_of(ssl_st* connection, CipherKind kind) const;

  friend struct TlsCallbacks;  // OpenSSL asks them for the key

  const CipherKind cipher_;
  std::array<SuiteKey, 2> keys_;  // by suite
  ContextPtr client_, server_;
};

}  // namespace isthmus
