#include "runtime/control/tls_channel.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>

#include "runtime/control/stream_framing.h"

namespace isthmus {
namespace {

constexpr char kAlertRecord = 0x15, kHandshakeRecord = 0x16, kChangeCipherRecord = 0x14;
constexpr std::string_view kFatalAlert("\x15\x03\x03\x00\x02\x02\x28", 7);  // handshake_failure
constexpr std::string_view kExporterPrefix = "EXPORTER-isthmus-";

bool is_tls(char first_byte) {
  return first_byte == kAlertRecord || first_byte == kHandshakeRecord || first_byte == kChangeCipherRecord;
}

// Why the last call of OpenSSL in this thread failed, in its words; its queue is then empty.
std::string library_reason() {
  std::string reason;
  for (unsigned long code; (code = ERR_get_error()) != 0;) {
    const char* text = ERR_reason_error_string(code);
    if (reason.empty() && text != nullptr) reason = text;
  }
  return reason.empty() ? "no reason given" : reason;
}

}  // namespace

// OpenSSL's view of the socket. Its own one would raise SIGPIPE.
struct TlsBio {
  static int write(BIO* bio, const char* bytes, int count) {
    auto* channel = static_cast<TlsChannel*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    const Result<std::size_t> written = channel->socket_->write({bytes, static_cast<std::size_t>(count)});
    if (!written.ok()) return fail(channel, written.status());
    if (*written == 0) BIO_set_retry_write(bio);
    return *written == 0 ? -1 : static_cast<int>(*written);
  }

  static int read(BIO* bio, char* to, int count) {
    auto* channel = static_cast<TlsChannel*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    const Result<std::size_t> got = channel->socket_->read(to, static_cast<std::size_t>(count));
    if (!got.ok()) return fail(channel, got.status());
    if (*got == 0) {
      BIO_set_retry_read(bio);
      return -1;
    }
    if (!channel->stands_) {
      if (channel->received_bytes_ == 0) channel->first_byte_ = *to;
      channel->received_bytes_ += *got;
      if (!is_tls(channel->first_byte_) || channel->received_bytes_ > TlsChannel::kMaxHandshakeBytes) {
        return fail(channel, corruption("the peer does not speak TLS as Isthmus does"));
      }
    }
    return static_cast<int>(*got);
  }

  static int fail(TlsChannel* channel, const Status& why) {
    if (channel->socket_error_.ok()) channel->socket_error_ = why;
    return -1;
  }

  static long control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

  static int create(BIO* bio) {
    BIO_set_init(bio, 1);
    return 1;
  }

  static BIO_METHOD* method() {
    static BIO_METHOD* const instance = [] {  // never freed: channels may outlive static destruction
      BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "isthmus socket");
      if (made != nullptr) {
        BIO_meth_set_write(made, &TlsBio::write);
        BIO_meth_set_read(made, &TlsBio::read);
        BIO_meth_set_ctrl(made, &TlsBio::control);
        BIO_meth_set_create(made, &TlsBio::create);
      }
      return made;
    }();
    return instance;
  }
};

Result<std::unique_ptr<TlsChannel>> TlsChannel::create(std::shared_ptr<const TlsContext> context, TlsContext::Role role,
                                                       std::unique_ptr<SocketChannel> socket) {
  std::unique_ptr<TlsChannel> channel(new TlsChannel(std::move(context), role, std::move(socket)));
  channel->connection_ = channel->context_->new_connection(role);
  BIO* bio = TlsBio::method() != nullptr ? BIO_new(TlsBio::method()) : nullptr;
  if (channel->connection_ == nullptr || bio == nullptr) {
    BIO_free(bio);
    return internal_error("OpenSSL makes no connection: {}", library_reason());
  }
  BIO_set_data(bio, channel.get());
  SSL_set_bio(channel->connection_, bio, bio);
  return channel;
}

TlsChannel::~TlsChannel() { SSL_free(connection_); }

Status TlsChannel::outcome(int result) {
  const int error = SSL_get_error(connection_, result);
  if (!socket_error_.ok()) {
    ERR_clear_error();
    return socket_error_;
  }
  if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE) return Status();
  if (error == SSL_ERROR_ZERO_RETURN) return unavailable("the peer closed the connection");
  return corruption("TLS: {}", library_reason());
}

// What the peer is told is an alert without a reason: OpenSSL has sent one where both speak TLS.
Status TlsChannel::handshake_failure(const Status& why) {
  // Not "unavailable": somebody is there. A listener drops handshakes when it has too many.
  if (why.code() == StatusCode::kUnavailable) return deadline_exceeded("during the handshake: {}", why.message());
  if (received_bytes_ > 0 && !is_tls(first_byte_)) {
    if (role_ == TlsContext::Role::kServer) (void)socket_->write(kFatalAlert);
    if (first_byte_ != kFramingPreamble[0]) return why;
    return invalid_argument("authentication failed: this process has a job secret, the peer uses none");
  }
  return invalid_argument("authentication failed: the two sides have different job secrets, or one has none ({})",
                          why.message());
}

Result<bool> TlsChannel::stand() {
  if (stands_) return true;
  ISTHMUS_ASSIGN_OR_RETURN(const bool connected, socket_->stand());
  if (!connected) return false;
  ERR_clear_error();
  const int result = SSL_do_handshake(connection_);
  if (result != 1) {
    const Status status = outcome(result);
    if (!status.ok()) return handshake_failure(status);
    return false;
  }
  // Whoever presents a certificate instead of the key has not been asked for one; this holds without that.
  if (SSL_session_reused(connection_) != 1) return handshake_failure(corruption("no pre-shared key was used"));
  stands_ = true;
  return true;
}

Result<std::size_t> TlsChannel::write(std::string_view bytes) {
  ERR_clear_error();
  const int size = static_cast<int>(std::min<std::size_t>(bytes.size(), 1 << 20));
  const int result = SSL_write(connection_, bytes.data(), size);
  if (result > 0) return static_cast<std::size_t>(result);
  ISTHMUS_RETURN_IF_ERROR(outcome(result));
  return std::size_t{0};
}

Result<std::size_t> TlsChannel::read(char* to, std::size_t size) {
  ERR_clear_error();
  const int result = SSL_read(connection_, to, static_cast<int>(std::min<std::size_t>(size, 1 << 20)));
  if (result > 0) return static_cast<std::size_t>(result);
  ISTHMUS_RETURN_IF_ERROR(outcome(result));
  return std::size_t{0};
}

Result<Key> TlsChannel::export_secret(std::string_view label, std::string_view context) {
  if (!stands_) return internal_error("{}: the handshake is not over", description());
  Key key;
  const std::string full = std::string(kExporterPrefix) + std::string(label);
  const int made = SSL_export_keying_material(
      connection_, reinterpret_cast<unsigned char*>(key.data()), key.size(), full.data(), full.size(),
      reinterpret_cast<const unsigned char*>(context.data()), context.size(), 1);
  if (made == 1) return key;
  return internal_error("{}: TLS exports no secret: {}", description(), library_reason());
}

}  // namespace isthmus
