// Text and descriptors over a Unix socket that keeps messages apart.
//
// Threads: any thread; one at a time per socket.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/fd.h"

namespace isthmus::lab {

inline constexpr std::size_t kMaxFdsPerMessage = 16;

Status send_with_fds(int socket, std::string_view text, std::span<const int> fds);

// Waits for one message; unavailable when the other end is closed.
Result<std::string> receive_with_fds(int socket, std::vector<Fd>* fds);

}  // namespace isthmus::lab
