// Seeded worlds: a random line, random operations in both directions, and resets, cuts and damage at random moments.
// Every byte must arrive, once and right, and nothing may hang. A world that
// fails names its seed.
#include <algorithm>

#include "tests/runtime/link/link_pair.h"

namespace isthmus {
namespace {

constexpr int kRounds = 3;

class World final : public LinkPair {
 public:
  explicit World(unsigned seed) : random_(seed) { seed_ = seed; }
  void TestBody() override {}

  // Empty, or what went wrong.
  std::string run() {
    prepare();
    plan();
    const bool is_done = run_until([this] { return act() && are_all_done(); }, std::chrono::seconds(240));
    for (const Side& side : sides_)
      if (!side.link->status().ok()) return side.link->status().to_string();
    if (!is_done) return "it hangs";
    for (const auto& transfer : transfers_)
      if (transfer->got != transfer->text) return "bytes are wrong";
    if (!run_until([this] { return sides_[0].set->drained() && sides_[1].set->drained(); }, std::chrono::seconds(60)))
      return "a side does not drain";
    return {};
  }

 private:
  struct Transfer {
    OperationKey key;
    int from = 0;
    std::uint32_t round = 0;
    std::string text, got;
  };
  // One operation of both sides; each side opens it at a moment of its own.
  struct Operation {
    OperationKey key;
    RecordingOperation handlers[2];
    std::vector<Transfer*> transfers[2];  // by receiving side
    TimePoint open_at[2];
    bool is_open[2] = {false, false};
  };
  enum class EventKind { kReset, kCut, kHeal, kHealWithStall, kReshape };
  struct Event {
    TimePoint at;
    EventKind kind;
    int side = 0;
  };

  unsigned draw(unsigned below) { return static_cast<unsigned>(random_() % below); }
  Duration draw_ms(unsigned below) { return std::chrono::milliseconds(draw(below)); }

  Shape draw_shape() {
    Shape shape;
    shape.out.delay = draw_ms(80);
    shape.out.jitter = draw(2) == 0 ? Duration(0) : draw_ms(5);
    shape.out.rate_bytes_per_sec = draw(4) == 0 ? 0 : 1e5 * (1 + draw(500));
    shape.out.loss = draw(2) == 0 ? 0 : 0.001 * draw(30);
    return shape;
  }

  void prepare() {
    LinkSetOptions options;
    options.link.first_lanes = 1 + static_cast<int>(draw(3));
    options.link.most_lanes = options.link.first_lanes + static_cast<int>(draw(4));
    options.link.has_control_lane = options.link.most_lanes > 1;
    options.link.eager.per_operation_bytes = 1024 * (1 + draw(64));
    options.link.eager.total_bytes = 4 * options.link.eager.per_operation_bytes;
    options.reach_limit = std::chrono::seconds(60);
    if (draw(2) == 0)
      for (Side& side : sides_) side.keys.emplace();
    start(draw_shape(), options);
    if (draw(3) == 0) damage_one_in(100 + draw(1000));
  }

  void damage_one_in(unsigned messages) {
    for (Side& side : sides_)
      side.tampering.on_message = [this, messages](MutableBytes message) {
        if (draw(messages) == 0) message[draw(static_cast<unsigned>(message.size()))] ^= std::byte{1};
      };
  }

  void plan() {
    const unsigned count = 1 + draw(4);
    for (unsigned i = 1; i <= count; ++i) {
      auto operation = std::make_unique<Operation>();
      operation->key = {42, i, 0, 0};
      for (int from = 0; from < 2; ++from) {
        const unsigned rounds = 1 + draw(kRounds);
        for (unsigned round = 0; round < rounds; ++round) add_transfer(*operation, from, round);
        operation->open_at[from] =
            clock_.now() + (i > 1 ? operations_.back()->open_at[from] - clock_.now() : Duration(0)) + draw_ms(300);
      }
      operations_.push_back(std::move(operation));
    }
    const unsigned events = draw(4);
    for (unsigned i = 0; i < events; ++i) plan_event(clock_.now() + draw_ms(1500), static_cast<int>(draw(2)));
    std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.at < b.at; });
  }

  void add_transfer(Operation& operation, int from, std::uint32_t round) {
    const std::size_t bytes = draw(4) == 0 ? draw(3) : draw(200'000);
    transfers_.push_back(std::make_unique<Transfer>());
    Transfer& transfer = *transfers_.back();
    transfer = {operation.key, from, round, random_text(bytes, static_cast<unsigned>(random_())),
                std::string(bytes, '.')};
    operation.transfers[1 - from].push_back(&transfer);
  }

  void plan_event(TimePoint at, int side) {
    switch (draw(3)) {
      case 0: events_.push_back({at, EventKind::kReset, side}); break;
      case 1: events_.push_back({at, EventKind::kReshape, side}); break;
      default:
        events_.push_back({at, EventKind::kCut, side});
        events_.push_back({at + draw_ms(5000), draw(2) == 0 ? EventKind::kHeal : EventKind::kHealWithStall, side});
    }
  }

  // What is due. True once nothing is left to do.
  bool act() {
    while (next_event_ < events_.size() && events_[next_event_].at <= clock_.now()) happen(events_[next_event_++]);
    bool is_all_open = true;
    for (auto& operation : operations_) {
      for (int side = 0; side < 2; ++side) {
        if (!operation->is_open[side] && operation->open_at[side] <= clock_.now()) open(*operation, side);
        is_all_open &= operation->is_open[side];
      }
    }
    return is_all_open && next_event_ == events_.size();
  }

  void happen(const Event& event) {
    ShapedControl& control = *sides_[event.side].control;
    switch (event.kind) {
      case EventKind::kReset: control.reset_lanes(); break;
      case EventKind::kCut:
        for (Side& side : sides_) side.control->cut();
        break;
      case EventKind::kHeal:
        for (Side& side : sides_) side.control->heal();
        break;
      case EventKind::kHealWithStall:
        for (Side& side : sides_) side.control->heal(std::chrono::seconds(10));
        break;
      case EventKind::kReshape: control.set_shape(draw_shape()); break;
    }
  }

  void open(Operation& operation, int side) {
    operation.is_open[side] = true;
    std::uint64_t bytes = 1;
    for (const Transfer* transfer : operation.transfers[side]) bytes += transfer->text.size();
    sides_[side].link->open(operation.key, "d", bytes, &operation.handlers[side]);
    for (const Transfer* transfer : operation.transfers[1 - side])
      sides_[side].link->send(operation.key, transfer->round, as_bytes(transfer->text), transfer->round);
    for (Transfer* transfer : operation.transfers[side])
      sides_[side].link->receive(operation.key, transfer->round, std::as_writable_bytes(std::span(transfer->got)),
                                 transfer->round);
  }

  bool are_all_done() const {
    for (const auto& operation : operations_)
      for (int side = 0; side < 2; ++side)
        if (operation->handlers[side].received.size() < operation->transfers[side].size()) return false;
    return true;
  }

  std::mt19937 random_;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::vector<std::unique_ptr<Transfer>> transfers_;
  std::vector<Event> events_;
  std::size_t next_event_ = 0;
};

void run_worlds(unsigned first, unsigned count) {
  for (unsigned seed = first; seed < first + count; ++seed) EXPECT_EQ(World(seed).run(), "") << "seed " << seed;
}

TEST(LinkSimulation, OneThousandWorlds) { run_worlds(1, 1'000); }

// Lines so slow that a round of resends takes longer than it is waited for: either side may ask for fresh lanes, and
// copies may fill the line.
TEST(LinkSimulation, WorldsWithSlowLines) {
  for (const unsigned seed : {1947u, 5742u, 6260u, 6750u, 12554u, 14244u, 17592u}) run_worlds(seed, 1);
}

// Under the label slow.
TEST(LinkSimulation, TwentyThousandWorlds) { run_worlds(1'001, 20'000); }

}  // namespace
}  // namespace isthmus
