#include "runtime/security/link_cipher.h"

#include <algorithm>

namespace isthmus {
namespace {

Aead::Nonce nonce_of(LinkCipher::Numbering numbering, std::uint64_t number) {
  Aead::Nonce nonce;
  store_le(nonce.data(), static_cast<std::uint32_t>(numbering));
  store_le(nonce.data() + sizeof(std::uint32_t), number);
  return nonce;
}

std::string root_info(CipherKind kind, LinkCipher::Numbering numbering, ProcessId from, ProcessId to,
                      std::uint64_t session) {
  std::string info = "isthmus link 1";
  ByteWriter writer(&info);
  writer.put(static_cast<std::uint8_t>(kind));
  writer.put(static_cast<std::uint8_t>(numbering));
  writer.put(from);
  writer.put(to);
  writer.put(session);
  return info;
}

std::string generation_info(std::uint32_t generation) {
  std::string info = "isthmus generation 1";
  ByteWriter(&info).put(generation);
  return info;
}

}  // namespace

// One direction and numbering: its root, and the keys that it has in use.
class LinkCipher::Stream {
 public:
  Stream(CipherKind kind, Numbering numbering, Aead::Direction direction)
      : kind_(kind), numbering_(numbering), direction_(direction) {}
  ~Stream() { erase_secret(root_); }

  Status derive_root(ConstBytes secret, ProcessId from, ProcessId to, std::uint64_t session) {
    return hkdf_sha256(secret, {}, root_info(kind_, numbering_, from, to, session), root_);
  }

  Status seal(std::uint64_t number, ConstBytes header, MutableBytes body, std::byte* tag) {
    if (number < next_number_)
      return internal_error("frame {} was to be sealed after frame {}", number, next_number_ - 1);
    ISTHMUS_ASSIGN_OR_RETURN(Aead * aead, key_of(generation_of(number)));
    next_number_ = number + 1;
    return aead->seal(nonce_of(numbering_, number), header, body, tag);
  }

  Status open(std::uint64_t number, ConstBytes header, MutableBytes body, const std::byte* tag) {
    const std::uint32_t generation = generation_of(number);
    if (generation + 1 < newest_ || generation > newest_ + 1) {
      return corruption("frame {} is of key generation {}, this side is at {}", number, generation, newest_);
    }
    ISTHMUS_ASSIGN_OR_RETURN(Aead * aead, key_of(generation));
    ISTHMUS_RETURN_IF_ERROR(aead->open(nonce_of(numbering_, number), header, body, tag));
    newest_ = std::max(newest_, generation);
    return Status();
  }

 private:
  struct Slot {
    std::uint32_t generation = 0;  // 0: empty
    std::optional<Aead> aead;
  };

  // Three generations in a row have three slots.
  Result<Aead*> key_of(std::uint32_t generation) {
    Slot& slot = slots_[generation % slots_.size()];
    if (slot.generation == generation) return &*slot.aead;
    Key key;
    ISTHMUS_RETURN_IF_ERROR(hkdf_sha256(root_, {}, generation_info(generation), key));
    Result<Aead> aead = Aead::create(kind_, direction_, key);
    erase_secret(key);
    if (!aead.ok()) return aead.status();
    slot.aead.emplace(std::move(aead).value());
    slot.generation = generation;
    return &*slot.aead;
  }

  const CipherKind kind_;
  const Numbering numbering_;
  const Aead::Direction direction_;
  Key root_{};
  std::array<Slot, 3> slots_;
  std::uint64_t next_number_ = 0;  // sealing
  std::uint32_t newest_ = 1;       // opening: the newest generation that was authentic
};

LinkCipher::LinkCipher() = default;
LinkCipher::~LinkCipher() = default;

Result<std::unique_ptr<LinkCipher>> LinkCipher::create(CipherKind kind, ConstBytes secret, ProcessId self,
                                                       ProcessId peer, std::uint64_t session) {
  if (secret.size() != kSecretBytes) {
    return invalid_argument("a link's secret has {} bytes, not {}", kSecretBytes, secret.size());
  }
  if (self == peer) return invalid_argument("process {:#x} has no link to itself", self);
  std::unique_ptr<LinkCipher> cipher(new LinkCipher());
  for (const Numbering numbering : {Numbering::kSegment, Numbering::kAcknowledgement}) {
    const auto index = static_cast<std::size_t>(numbering);
    cipher->outgoing_[index] = std::make_unique<Stream>(kind, numbering, Aead::Direction::kSeal);
    cipher->incoming_[index] = std::make_unique<Stream>(kind, numbering, Aead::Direction::kOpen);
    ISTHMUS_RETURN_IF_ERROR(cipher->outgoing_[index]->derive_root(secret, self, peer, session));
    ISTHMUS_RETURN_IF_ERROR(cipher->incoming_[index]->derive_root(secret, peer, self, session));
  }
  return cipher;
}

Status LinkCipher::seal(Numbering numbering, std::uint64_t number, ConstBytes header, MutableBytes body,
                        std::byte* tag) {
  return outgoing_[static_cast<std::size_t>(numbering)]->seal(number, header, body, tag);
}

Status LinkCipher::open(Numbering numbering, std::uint64_t number, ConstBytes header, MutableBytes body,
                        const std::byte* tag) {
  return incoming_[static_cast<std::size_t>(numbering)]->open(number, header, body, tag);
}

namespace {

Result<Key> full_greeting_mac(ConstBytes secret, ProcessId from, ProcessId to, ConstBytes greeting) {
  std::string info = "isthmus greeting 1";
  ByteWriter writer(&info);
  writer.put(from);
  writer.put(to);
  Key key, mac;
  ISTHMUS_RETURN_IF_ERROR(hkdf_sha256(secret, {}, info, key));
  const Status status = hmac_sha256(key, greeting, &mac);
  erase_secret(key);
  if (!status.ok()) return status;
  return mac;
}

}  // namespace

std::array<std::byte, LinkCipher::kMacBytes> greeting_mac(ConstBytes secret, ProcessId from, ProcessId to,
                                                          ConstBytes greeting) {
  std::array<std::byte, LinkCipher::kMacBytes> mac{};
  const Result<Key> full = full_greeting_mac(secret, from, to, greeting);
  if (full.ok()) std::copy_n(full->begin(), mac.size(), mac.begin());  // else zeros, which no peer takes
  return mac;
}

bool check_greeting_mac(ConstBytes secret, ProcessId from, ProcessId to, ConstBytes greeting, ConstBytes mac) {
  const Result<Key> full = full_greeting_mac(secret, from, to, greeting);
  return full.ok() && equal_in_constant_time(ConstBytes(*full).first(LinkCipher::kMacBytes), mac);
}

}  // namespace isthmus
