#include "runtime/control/tls_control.h"

#include "runtime/control/framed_stream.h"
#include "runtime/control/tcp_socket.h"
#include "runtime/control/tls_channel.h"
#include "runtime/control/tls_listener.h"

namespace isthmus {

Result<std::unique_ptr<TlsControlNetwork>> TlsControlNetwork::create(const JobSecret& secret, CipherKind cipher) {
  ISTHMUS_ASSIGN_OR_RETURN(std::shared_ptr<const TlsContext> context, TlsContext::create(secret, cipher));
  return std::unique_ptr<TlsControlNetwork>(new TlsControlNetwork(std::move(context)));
}

Result<std::unique_ptr<ControlListener>> TlsControlNetwork::listen(const std::string& host,
                                                                   const std::string& advertised_host,
                                                                   std::uint16_t port_low, std::uint16_t port_high) {
  ISTHMUS_ASSIGN_OR_RETURN(BoundSocket bound, listen_tcp(host, advertised_host, port_low, port_high));
  ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<TlsListener> listener,
                           TlsListener::create(context_, std::move(bound), {kMaxHandshakes, kHandshakeLimit}));
  return std::unique_ptr<ControlListener>(std::move(listener));
}

Result<std::unique_ptr<ControlStream>> TlsControlNetwork::dial(const std::string& address) {
  ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<SocketChannel> socket, dial_tcp(address));
  ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<TlsChannel> channel,
                           TlsChannel::create(context_, TlsContext::Role::kClient, std::move(socket)));
  return std::unique_ptr<ControlStream>(std::make_unique<FramedStream>(std::move(channel)));
}

}  // namespace isthmus
