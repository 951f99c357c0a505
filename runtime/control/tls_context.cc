#include "runtime/control/tls_context.h"

#include <openssl/ssl.h>

namespace isthmus {
namespace {

struct Suite {
  CipherKind kind;
  const char* name;
  unsigned char code[2];
  std::string_view purpose;  // of the key
  std::size_t key_bytes;     // of its hash function
  std::string_view identity;
};

// The identities are random, and tell only which suite is meant.
constexpr Suite kSuites[] = {
    {CipherKind::kAes256Gcm, "TLS_AES_256_GCM_SHA384", {0x13, 0x02}, "tls aes-256-gcm sha384", 48, "3f9c1b7ad2e84056"},
    {CipherKind::kChaCha20Poly1305,
     "TLS_CHACHA20_POLY1305_SHA256",
     {0x13, 0x03},
     "tls chacha20-poly1305 sha256",
     32,
     "a60d58e7143bf2c9"},
};
constexpr char kAllSuites[] = "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256";
constexpr char kGroups[] = "X25519:P-256";

std::size_t index_of(CipherKind kind) { return kind == CipherKind::kAes256Gcm ? 0 : 1; }

}  // namespace

struct TlsCallbacks {
  static const TlsContext& context_of(SSL* connection) {
    return *static_cast<const TlsContext*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(connection)));
  }

  static int client_key(SSL* connection, const EVP_MD*, const unsigned char** identity, std::size_t* size,
                        SSL_SESSION** session) {
    const TlsContext& context = context_of(connection);
    const Suite& suite = kSuites[index_of(context.cipher_)];
    *session = context.session_of(connection, suite.kind);
    *identity = reinterpret_cast<const unsigned char*>(suite.identity.data());
    *size = suite.identity.size();
    return *session != nullptr ? 1 : 0;
  }

  static int server_key(SSL* connection, const unsigned char* identity, std::size_t size, SSL_SESSION** session) {
    *session = nullptr;  // an identity that is not ours: the handshake fails for want of a certificate
    const std::string_view text(reinterpret_cast<const char*>(identity), size);
    for (const Suite& suite : kSuites) {
      if (text == suite.identity) *session = context_of(connection).session_of(connection, suite.kind);
    }
    return 1;
  }
};

void TlsContext::FreeContext::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

TlsContext::~TlsContext() {
  for (SuiteKey& key : keys_) erase_secret(key.bytes);
}

Status TlsContext::derive_keys(const JobSecret& secret) {
  for (const Suite& suite : kSuites) {
    SuiteKey& key = keys_[index_of(suite.kind)];
    key.size = suite.key_bytes;
    ISTHMUS_RETURN_IF_ERROR(secret.derive(suite.purpose, {}, MutableBytes(key.bytes).first(key.size)));
  }
  return Status();
}

Result<TlsContext::ContextPtr> TlsContext::make_context(Role role) const {
  const bool is_client = role == Role::kClient;
  ContextPtr context(SSL_CTX_new(is_client ? TLS_client_method() : TLS_server_method()));
  SSL_CTX* native = context.get();
  const char* suites = is_client ? kSuites[index_of(cipher_)].name : kAllSuites;
  const bool made = native != nullptr && SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION) == 1 &&
                    SSL_CTX_set_max_proto_version(native, TLS1_3_VERSION) == 1 &&
                    SSL_CTX_set_ciphersuites(native, suites) == 1 && SSL_CTX_set1_groups_list(native, kGroups) == 1 &&
                    SSL_CTX_set_num_tickets(native, 0) == 1 && SSL_CTX_set_max_early_data(native, 0) == 1;
  if (!made) return internal_error("OpenSSL cannot do TLS 1.3 with {} over {}", suites, kGroups);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(native, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_mode(native, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_verify(native, is_client ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);  // no certificate is trusted
  SSL_CTX_set_app_data(native, const_cast<TlsContext*>(this));
  SSL_CTX_set_psk_use_session_callback(native, &TlsCallbacks::client_key);
  SSL_CTX_set_psk_find_session_callback(native, &TlsCallbacks::server_key);
  return context;
}

Result<std::shared_ptr<const TlsContext>> TlsContext::create(const JobSecret& secret, CipherKind cipher) {
  std::shared_ptr<TlsContext> context(new TlsContext(cipher));
  ISTHMUS_RETURN_IF_ERROR(context->derive_keys(secret));
  ISTHMUS_ASSIGN_OR_RETURN(context->client_, context->make_context(Role::kClient));
  ISTHMUS_ASSIGN_OR_RETURN(context->server_, context->make_context(Role::kServer));
  return std::shared_ptr<const TlsContext>(std::move(context));
}

SSL_SESSION* TlsContext::session_of(SSL* connection, CipherKind kind) const {
  const SuiteKey& key = keys_[index_of(kind)];
  const SSL_CIPHER* cipher = SSL_CIPHER_find(connection, kSuites[index_of(kind)].code);
  SSL_SESSION* session = SSL_SESSION_new();
  const bool made =
      session != nullptr && cipher != nullptr &&
      SSL_SESSION_set1_master_key(session, reinterpret_cast<const unsigned char*>(key.bytes.data()), key.size) == 1 &&
      SSL_SESSION_set_cipher(session, cipher) == 1 && SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1;
  if (made) return session;
  SSL_SESSION_free(session);
  return nullptr;
}

SSL* TlsContext::new_connection(Role role) const {
  SSL* connection = SSL_new(role == Role::kClient ? client_.get() : server_.get());
  if (connection == nullptr) return nullptr;
  if (role == Role::kClient) {
    SSL_set_connect_state(connection);
  } else {
    SSL_set_accept_state(connection);
  }
  return connection;
}

}  // namespace isthmus
