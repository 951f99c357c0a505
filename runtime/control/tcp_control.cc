#include "runtime/control/tcp_control.h"

#include "runtime/control/framed_stream.h"
#include "runtime/control/tcp_socket.h"

namespace isthmus {
namespace {

class TcpListener final : public ControlListener {
 public:
  explicit TcpListener(BoundSocket bound) : bound_(std::move(bound)) {}

  Result<std::unique_ptr<ControlStream>> accept() override {
    ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<SocketChannel> channel, accept_tcp(fd(), address()));
    if (channel == nullptr) return std::unique_ptr<ControlStream>();
    return std::unique_ptr<ControlStream>(std::make_unique<FramedStream>(std::move(channel)));
  }
  int fd() const override { return bound_.socket.get(); }
  const std::string& address() const override { return bound_.address; }

 private:
  BoundSocket bound_;
};

}  // namespace

Result<std::unique_ptr<ControlListener>> TcpControlNetwork::listen(const std::string& host,
                                                                   const std::string& advertised_host,
                                                                   std::uint16_t port_low, std::uint16_t port_high) {
  ISTHMUS_ASSIGN_OR_RETURN(BoundSocket bound, listen_tcp(host, advertised_host, port_low, port_high));
  return std::unique_ptr<ControlListener>(std::make_unique<TcpListener>(std::move(bound)));
}

Result<std::unique_ptr<ControlStream>> TcpControlNetwork::dial(const std::string& address) {
  ISTHMUS_ASSIGN_OR_RETURN(std::unique_ptr<SocketChannel> channel, dial_tcp(address));
  return std::unique_ptr<ControlStream>(std::make_unique<FramedStream>(std::move(channel)));
}

}  // namespace isthmus
