// Control streams over TLS 1.3 over TCP, for processes that have the job's secret.
//
// Threads: TlsControlNetwork, any thread; its streams and listeners, one thread at a time each.
//
// A listener does the handshakes itself: accept() returns streams of peers that have shown the secret. It holds at most
// kMaxHandshakes connections that have not; the oldest goes when another comes, and each after kHandshakeLimit. Its
// descriptor is readable whenever accept() has something to do.
#pragma once

#include <memory>
#include <string>

#include "runtime/control/control_stream.h"
#include "runtime/control/tls_context.h"

namespace isthmus {

class TlsControlNetwork final : public ControlNetwork {
 public:
  static constexpr std::size_t kMaxHandshakes = 64;
  static constexpr std::chrono::seconds kHandshakeLimit{5};

  static Result<std::unique_ptr<TlsControlNetwork>> create(const JobSecret& secret, CipherKind cipher);

  Result<std::unique_ptr<ControlListener>> listen(const std::string& host, const std::string& advertised_host,
                                                  std::uint16_t port_low, std::uint16_t port_high) override;
  Result<std::unique_ptr<ControlStream>> dial(const std::string& address) override;

 private:
  explicit TlsControlNetwork(std::shared_ptr<const TlsContext> context) : context_(std::move(context)) {}

  const std::shared_ptr<const TlsContext> context_;
};

}  // namespace isthmus
