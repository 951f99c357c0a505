// PairSecret: how two processes agree on one secret for their links, whatever becomes of their control connections.
//
// It is exported from the first connection on which the accepting side heard the dialling side's hello, and stays for
// the life of the pair. Where the welcome of that connection was lost, the dialling side does not know it: it then
// comes with the welcome of a later one, inside its TLS. The hello says which secret the dialling side has.
//
// Threads: one thread at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/base/process_id.h"
#include "runtime/base/status.h"
#include "runtime/control/control_stream.h"

namespace isthmus {

class PairSecret {
 public:
  PairSecret() = default;
  PairSecret(const PairSecret&) = delete;
  PairSecret& operator=(const PairSecret&) = delete;
  ~PairSecret();

  // What a connection of the two processes exports; both ids are bound into it. Nothing: the connection is plain.
  static Result<std::optional<Key>> exported(ControlStream& stream, ProcessId dialler, ProcessId acceptor);

  // The dialling side: what its hello says, and what it learns from the welcome.
  std::string hello() const;
  Status take_welcome(std::string_view welcome, const std::optional<Key>& exported);

  // The accepting side: the welcome to a hello. corruption: the peer has another secret.
  Result<std::string> answer_hello(std::string_view hello, const std::optional<Key>& exported);

  // Nothing: not known yet, or the connections are plain.
  const std::optional<Key>& key() const { return key_; }

 private:
  std::optional<Key> key_;
};

}  // namespace isthmus
