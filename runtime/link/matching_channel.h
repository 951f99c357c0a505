// MatchingChannel: the part of a channel that every kind shares: which segment belongs where, and who may send what.
// A kind of channel adds how frames travel.
//
// Threads: the progress thread.
#pragma once

#include "runtime/link/channel.h"
#include "runtime/link/inbound.h"
#include "runtime/link/outbound.h"

namespace isthmus {

class MatchingChannel : public Channel {
 public:
  void open(const OperationKey& key, std::string_view descriptor, std::uint64_t receive_bytes,
            ChannelOperation* operation) override {
    was_used_ = true;
    outbound_.open(key, descriptor, receive_bytes, operation);
    inbound_.open(key, descriptor, operation);
  }
  void expect(const OperationKey& key) override { inbound_.expect(key); }
  void send(const OperationKey& key, std::uint32_t round, ConstBytes source, std::uint32_t step) override {
    outbound_.send(key, round, source, step);
  }
  void receive(const OperationKey& key, std::uint32_t round, MutableBytes target, std::uint32_t step) override {
    inbound_.receive(key, round, target, step);
  }
  void close(const OperationKey& key) override {
    outbound_.close(key);
    inbound_.close(key);
  }
  void refuse(const OperationKey& key) override {
    outbound_.grant_all(key);
    outbound_.close(key);
    inbound_.refuse(key);
  }
  std::uint64_t arrival(const OperationKey& key) const override { return inbound_.arrival(key); }
  void watch(std::uint64_t communicator, std::uint32_t rank, CallListener* listener) override {
    inbound_.watch(communicator, rank, listener);
  }
  void forget(std::uint64_t communicator) override {
    outbound_.forget(communicator);
    inbound_.forget(communicator);
  }
  Status status() const override { return status_; }

  // For good: nothing more is sent or taken, status() is `why`.
  void fail(const Status& why) {
    if (status_.ok()) status_ = why;
  }
  bool was_used() const { return was_used_; }

 protected:
  explicit MatchingChannel(EagerLimits limits) : inbound_(limits), outbound_(limits) {}

  // A kCredit frame.
  void take_credit(const Frame& frame) {
    inbound_.on_descriptor(frame.header.operation, frame.descriptor);
    outbound_.on_credit(frame.header.operation, frame.header.offset);
  }

  Inbound inbound_;
  Outbound outbound_;
  Status status_;

 private:
  bool was_used_ = false;
};

}  // namespace isthmus
