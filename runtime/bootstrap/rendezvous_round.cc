#include "runtime/bootstrap/rendezvous_round.h"

#include <thread>

#include "runtime/base/bytes.h"
#include "runtime/bootstrap/sealed_store.h"

namespace isthmus {
namespace {

// Time to publish or to look up a failure after the deadline has passed.
constexpr Duration kEpilogue = std::chrono::seconds(2);
constexpr Duration kHearingLimit = std::chrono::seconds(1);
constexpr std::size_t kMaxNamedRanks = 16;

TimePoint epilogue() { return deadline_after(SteadyClock::instance().now(), kEpilogue); }

std::string record_key(const RendezvousRound& round, int rank) { return fmt::format("{}/{}", round.name, rank); }
std::string heard_key(const RendezvousRound& round) { return round.name + "/heard"; }
std::string answer_key(const RendezvousRound& round) { return round.name + "/answer"; }

// A category, then the payload or the message.
std::string encode(const Result<std::string>& result) {
  std::string bytes(1, static_cast<char>(result.status().code()));
  return bytes + (result.ok() ? *result : result.status().message());
}

Result<std::string> decode(const std::string& bytes) {
  if (bytes.starts_with(kSealedMagic))
    return invalid_argument("authentication failed: the peer has a job secret, this process uses none");
  if (bytes.empty() || bytes[0] > static_cast<char>(StatusCode::kInternal) || bytes[0] < 0)
    return corruption("a rendezvous record of {} bytes is malformed", bytes.size());
  if (bytes[0] == 0) return bytes.substr(1);
  return Status(static_cast<StatusCode>(bytes[0]), bytes.substr(1));
}

Status missing_ranks(const RendezvousRound& round) {
  std::string names;
  std::size_t count = 0;
  for (int rank = 0; rank < round.size; ++rank) {
    const Result<bool> found = round.store->contains(record_key(round, rank), epilogue());
    if (!found.ok()) return found.status().with_context(fmt::format("forming \"{}\"", round.group));
    if (*found) continue;
    if (++count <= kMaxNamedRanks) names += fmt::format("{}{}", names.empty() ? "" : ", ", rank);
  }
  if (count > kMaxNamedRanks) names += ", ...";
  if (count == 0)
    return deadline_exceeded("forming \"{}\" ({}): every rank came, but rank 0 did not answer in time", round.group,
                             round.name);
  return deadline_exceeded("forming \"{}\" ({}): {} of {} ranks did not come in time: rank {}", round.group, round.name,
                           count, round.size, names);
}

Result<std::string> make_answer(const RendezvousRound& round,
                                const std::function<Result<std::string>(const std::vector<std::string>&)>& combine) {
  std::vector<std::string> records;
  for (int rank = 0; rank < round.size; ++rank) {
    const Result<std::string> bytes = round.store->get(record_key(round, rank), round.deadline);
    if (!bytes.ok() && bytes.status().code() == StatusCode::kDeadlineExceeded) return missing_ranks(round);
    const Result<std::string> record = bytes.ok() ? decode(*bytes) : bytes;
    if (!record.ok()) return record.status().with_context(fmt::format("forming \"{}\": rank {}", round.group, rank));
    records.push_back(*record);
  }
  return combine(records);
}

// After a failure rank 0 tends to exit, and with it the store that it hosts: it stays until the others have heard why.
void wait_until_heard(const RendezvousRound& round) {
  const TimePoint end = deadline_after(SteadyClock::instance().now(), kHearingLimit);
  while (SteadyClock::instance().now() < end) {
    const Result<std::int64_t> heard = round.store->add(heard_key(round), 0, end);
    if (!heard.ok() || *heard >= round.size - 1) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace

Result<std::string> run_round(const RendezvousRound& round, const Result<std::string>& record,
                              const std::function<Result<std::string>(const std::vector<std::string>&)>& combine) {
  const TimePoint write_by = record.ok() ? round.deadline : epilogue();
  ISTHMUS_RETURN_IF_ERROR(round.store->set(record_key(round, round.rank), encode(record), write_by));
  if (round.rank == 0) {
    const Result<std::string> answer = make_answer(round, combine);
    ISTHMUS_RETURN_IF_ERROR(round.store->set(answer_key(round), encode(answer), epilogue()));
    if (!answer.ok()) wait_until_heard(round);
    return answer;
  }
  const Result<std::string> bytes = round.store->get(answer_key(round), round.deadline);
  Result<std::string> answer = bytes.ok() ? decode(*bytes) : bytes;
  if (answer.status().code() == StatusCode::kDeadlineExceeded && !bytes.ok()) answer = missing_ranks(round);
  if (!answer.ok()) (void)round.store->add(heard_key(round), 1, epilogue());  // best effort: the reason matters more
  return answer;
}

}  // namespace isthmus
