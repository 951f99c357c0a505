// LinkCipher: seals what one end of a link sends and opens what it receives.
//
// Keys: the link's secret, the session and the ids of sender and receiver give a root per direction and numbering (so
// nothing can be reflected, and segments never share a key with acknowledgements); a root gives one key per generation.
// A nonce is the numbering and the number. PROTOCOL.md has the bytes.
//
// Threads: one thread at a time. Cost: seal() and open() allocate nothing but at a generation's first use.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "runtime/base/bytes.h"
#include "runtime/base/process_id.h"
#include "runtime/base/status.h"
#include "runtime/security/aead.h"

namespace isthmus {

// What the two ends of a link share. `secret` is a value exported from their authenticated control connection.
struct LinkKeys {
  CipherKind kind = CipherKind::kAes256Gcm;
  std::array<std::byte, 32> secret{};
};

class LinkCipher {
 public:
  static constexpr std::size_t kTagBytes = Aead::kTagBytes, kMacBytes = 16, kSecretBytes = 32;

  // A key seals at most 2^20 frames. Of 256 KiB, the default, they are 2^34 blocks of AES, and the chance to tell its
  // ciphertext from random bits is below 2^-60; of 2 MiB, the most, 2^37 blocks and below 2^-54 (NIST SP 800-38D and
  // RFC 8446, 5.5, allow 2^24.5 full-size records, 2^34.5 blocks, for 2^-57). A key that leaks opens 256 GiB of one
  // direction and no more (2 TiB at most). Numbers never wrap: 2^52 frames in 2^32 generations are never sent.
  static constexpr std::uint64_t kNumbersPerGeneration = 1u << 20;

  // Segments and acknowledgements are counted apart.
  enum class Numbering : std::uint8_t { kSegment = 0, kAcknowledgement = 1 };

  // `secret`: kSecretBytes, the same at both ends. invalid_argument: another size, or both ends have one id.
  static Result<std::unique_ptr<LinkCipher>> create(CipherKind kind, ConstBytes secret, ProcessId self, ProcessId peer,
                                                    std::uint64_t session);
  ~LinkCipher();

  // Goes into the frame's header as its key generation; from 1.
  static std::uint32_t generation_of(std::uint64_t number) {
    return static_cast<std::uint32_t>(1 + number / kNumbersPerGeneration);
  }

  // In place; `tag` takes kTagBytes. The numbers of a numbering rise from call to call (gaps are well): a number that
  // was passed already is refused (internal), because a nonce that serves twice gives the key away. What is to be sent
  // again is kept sealed.
  Status seal(Numbering numbering, std::uint64_t number, ConstBytes header, MutableBytes body, std::byte* tag);

  // In place. Numbers come in any order, within the newest authentic generation, the one before and the one after it:
  // so a stranger can make nothing be derived, but one key. corruption: not authentic, or of another generation; the
  // body is then of no use.
  Status open(Numbering numbering, std::uint64_t number, ConstBytes header, MutableBytes body, const std::byte* tag);

 private:
  class Stream;
  LinkCipher();

  std::array<std::unique_ptr<Stream>, 2> outgoing_, incoming_;  // by numbering
};

// The code that a lane's greeting carries: of the greeting's bytes, under a key of the link's secret, sender and
// receiver.
std::array<std::byte, LinkCipher::kMacBytes> greeting_mac(ConstBytes secret, ProcessId from, ProcessId to,
                                                          ConstBytes greeting);
bool check_greeting_mac(ConstBytes secret, ProcessId from, ProcessId to, ConstBytes greeting, ConstBytes mac);

}  // namespace isthmus
