// What a link makes of damage, of strangers, and of wrong keys.
#include "tests/runtime/link/link_pair.h"

namespace isthmus {
namespace {

LinkKeys make_keys(unsigned char fill) {
  LinkKeys keys;
  keys.secret.fill(static_cast<std::byte>(fill));
  return keys;
}

class LinkSealTest : public LinkPair {
 protected:
  // Every so many messages that arrive at a side, a random bit of one flips.
  void damage_one_in(unsigned messages) {
    for (Side& side : sides_) {
      side.tampering.on_message = [this, messages](MutableBytes message) {
        if (random_() % messages != 0) return;
        message[random_() % message.size()] ^= static_cast<std::byte>(1 << random_() % 8);
      };
    }
  }

  // Damage closes the lane that it came over; the rest of the world must not notice.
  void exchange_with_damage() {
    damage_one_in(60);
    exchange(random_text(2'000'000, 3), random_text(1'000'000, 4));
    EXPECT_GE(sides_[0].traffic.bad_frames.value() + sides_[1].traffic.bad_frames.value(), 2u);
  }

  // Opens a lane as a stranger at the network would, and tells whether it was turned away.
  bool is_turned_away(const std::string& greeting) {
    const auto stranger = make_loopback_transport(fabric_).value();
    const std::size_t lanes = sides_[1].link->lane_count();
    EXPECT_TRUE(stranger->connect(sides_[1].address, greeting).ok());
    bool is_down = false;
    const auto look = [&] {
      std::vector<TransportEvent> events(8);
      const std::size_t count = stranger->progress(events);
      for (std::size_t i = 0; i < count; ++i) is_down |= events[i].kind == TransportEventKind::kLaneDown;
      return is_down;
    };
    return run_until(look, std::chrono::seconds(2)) && sides_[1].link->lane_count() == lanes;
  }

  std::mt19937 random_{1};
};

TEST_F(LinkSealTest, ASealedLinkCarriesBothDirections) {
  for (Side& side : sides_) side.keys = make_keys(7);
  bool is_plain_seen = false;
  sides_[1].tampering.on_message = [&](MutableBytes message) {
    is_plain_seen |= as_text(ConstBytes(message)).find("Isthmus") != std::string_view::npos;
  };
  start(wan(25e6, 0));
  std::string text;
  while (text.size() < 1'000'000) text += "Isthmus ";
  exchange(text, text);
  EXPECT_FALSE(is_plain_seen);
}

TEST_F(LinkSealTest, DamageCostsALaneAndNoByte) {
  start(wan(25e6, 0));
  exchange_with_damage();
}

TEST_F(LinkSealTest, DamageCostsALaneAndNoByteUnderASeal) {
  for (Side& side : sides_) side.keys = make_keys(7);
  start(wan(25e6, 0));
  exchange_with_damage();
}

TEST_F(LinkSealTest, ARecordedGreetingOpensNoLane) {
  for (Side& side : sides_) side.keys = make_keys(7);
  start(wan(25e6, 0));
  exchange("one", "two");
  ASSERT_FALSE(sides_[1].tampering.greetings.empty());
  for (const std::string& greeting : std::vector<std::string>(sides_[1].tampering.greetings))
    EXPECT_TRUE(is_turned_away(greeting));
  LaneGreeting forged = decode_greeting(sides_[1].tampering.greetings.front()).value().greeting;
  forged.serial = 1000;
  EXPECT_TRUE(is_turned_away(encode_greeting(forged, std::nullopt)));
  EXPECT_TRUE(is_turned_away(encode_greeting(forged, make_keys(8))));
  EXPECT_TRUE(is_turned_away("noise"));
}

TEST_F(LinkSealTest, WrongKeysNeverBecomeALink) {
  sides_[0].keys = make_keys(7);
  sides_[1].keys = make_keys(8);
  LinkSetOptions options;
  options.reach_limit = std::chrono::seconds(3);
  start(wan(25e6, 0), options);
  RecordingOperation operation;
  sides_[1].link->open(kKey, "d", 1, &operation);
  ASSERT_TRUE(run_until([&] { return !sides_[1].link->status().ok(); }, std::chrono::seconds(5)));
  EXPECT_EQ(sides_[1].link->status().code(), StatusCode::kUnavailable);
  EXPECT_NE(sides_[1].link->status().message().find("side 0"), std::string::npos);
  EXPECT_EQ(sides_[1].link->lane_count(), 0u);
  EXPECT_EQ(sides_[1].traffic.received_bytes.value(), 0u);
}

}  // namespace
}  // namespace isthmus
