// Keys from secrets: HKDF (RFC 5869) and HMAC (RFC 2104), both with SHA-256; random bytes; comparing and erasing what
// nobody may learn.
//
// Threads: any thread.
#pragma once

#include <array>
#include <string_view>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace isthmus {

using Key = std::array<std::byte, 32>;

// Fills `out` (at most 8160 bytes). `info` tells apart what is derived from one secret; `salt` may be empty.
Status hkdf_sha256(ConstBytes secret, ConstBytes salt, std::string_view info, MutableBytes out);

Status hmac_sha256(ConstBytes key, ConstBytes message, Key* out);

// From the generator of the system.
Status random_bytes(MutableBytes out);

// Takes as long whatever the bytes are. Different sizes are not equal.
bool equal_in_constant_time(ConstBytes a, ConstBytes b);

// The compiler does not drop this one.
void erase_secret(MutableBytes bytes);

}  // namespace isthmus
