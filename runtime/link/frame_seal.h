// FrameSeal: the last bytes of every frame, by which the receiver knows that it is whole and from whom. On a sealed
// link they are the tag of AES-256-GCM or ChaCha20-Poly1305 over the whole frame, whose body is encrypted; otherwise a
// 64-bit checksum (XXH3), because TCP's 16 bits let about one damaged segment in 65536 pass (Stone and Partridge,
// 2000).
//
// A frame that does not open is no reason to end the link: anyone may have sent it. Its lane is closed, and what the
// peer's link sent there comes again on another one.
//
// Threads: the progress thread. Cost: one sweep over the frame; no allocation.
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/link/frame.h"
#include "runtime/security/link_cipher.h"

namespace isthmus {

class FrameSeal {
 public:
  static constexpr std::size_t kChecksumBytes = 8;
  static constexpr std::size_t kMaxTrailerBytes = LinkCipher::kTagBytes;

  // nullptr: frames are not sealed.
  explicit FrameSeal(std::unique_ptr<LinkCipher> cipher) : cipher_(std::move(cipher)) {}

  std::size_t trailer_bytes() const { return cipher_ ? LinkCipher::kTagBytes : kChecksumBytes; }

  // `message`: room for the header, the body, which is in place, and the trailer. Writes the header, with its key
  // generation, and the trailer, and encrypts the body in place.
  Status seal(FrameHeader header, MutableBytes message);

  // The frame without its trailer, its body decrypted in place. corruption: not whole, or not from the peer.
  Result<ConstBytes> open(MutableBytes message);

 private:
  std::unique_ptr<LinkCipher> cipher_;
};

}  // namespace isthmus
