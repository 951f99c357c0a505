// Groups of threads that form over a store in memory and control streams in memory.
#include "runtime/bootstrap/group.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "runtime/bootstrap/memory_store.h"
#include "runtime/bootstrap/sealed_store.h"
#include "runtime/bootstrap/site_detection.h"
#include "runtime/control/memory_control.h"

namespace isthmus {
namespace {

struct QuietHandler final : PeerMeshHandler {
  void on_message(ProcessId, std::string_view) override {}
  void on_peer_dead(ProcessId, const Status&) override {}
  void on_peer_suspect(ProcessId, const std::string&, Duration) override {}
  void on_path_silent(ProcessId, bool) override {}
  void on_goodbye(ProcessId) override {}
};

class GroupTest : public testing::Test {
 protected:
  // Forms a group of `infos.size()` ranks, of which those in `absent` never come.
  std::vector<Result<GroupTable>> form(const std::vector<ProcessInfo>& infos, const std::vector<int>& absent = {},
                                       Duration limit = std::chrono::seconds(20)) {
    static int worlds = 0;
    const std::string store_name = fmt::format("group test {}", worlds++);
    std::vector<Result<GroupTable>> results(infos.size(), Status(StatusCode::kInternal, "did not come"));
    std::vector<std::thread> threads;
    std::mt19937 random(static_cast<unsigned>(worlds));
    for (int rank = 0; rank < static_cast<int>(infos.size()); ++rank) {
      if (std::find(absent.begin(), absent.end(), rank) != absent.end()) continue;
      const auto delay = std::chrono::milliseconds(random() % 20);
      threads.emplace_back([&, rank, delay] {
        std::this_thread::sleep_for(delay);
        results[static_cast<std::size_t>(rank)] = form_rank(infos, rank, store_name, limit);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return results;
  }

  static ProcessInfo info(const std::string& site, const std::string& host = "h") {
    ProcessInfo result;
    result.process = make_process_id();
    result.host_id = result.network_id = host;
    result.site = site;
    result.transport = "loopback";
    result.security = SecurityLevel::kOff;
    return result;
  }

  MemoryControlNetwork network_;
  Duration site_rtt_ = std::chrono::minutes(1);  // a busy machine answers late
  std::vector<const JobSecret*> secrets_;        // by rank; nullptr: none

 private:
  Result<GroupTable> form_rank(const std::vector<ProcessInfo>& infos, int rank, const std::string& store_name,
                               Duration limit) {
    QuietHandler handler;
    FormGroupRequest request;
    request.self = infos[static_cast<std::size_t>(rank)];
    ISTHMUS_ASSIGN_OR_RETURN(const auto mesh, PeerMesh::create({}, &network_, request.self.process, &handler));
    const auto store = MemoryStore::named(store_name);
    std::unique_ptr<SealedStore> sealed;
    const auto index = static_cast<std::size_t>(rank);
    if (index < secrets_.size() && secrets_[index] != nullptr)
      sealed = std::make_unique<SealedStore>(store.get(), *secrets_[index], "world");
    request.store = sealed ? static_cast<Store*>(sealed.get()) : store.get();
    request.rank = rank;
    request.size = static_cast<int>(infos.size());
    request.group_name = "world";
    request.mesh = mesh.get();
    request.deadline = deadline_after(SteadyClock::instance().now(), limit);
    request.site_rtt = site_rtt_;
    request.bind = [&](const BindRequest&, ProcessInfo* self) -> Status {
      ISTHMUS_ASSIGN_OR_RETURN(const std::string address, mesh->listen("127.0.0.1", "", 0, 0));
      self->control_addresses = {address};
      return Status();
    };
    Result<GroupTable> table = form_group(request);
    mesh->goodbye(deadline_after(SteadyClock::instance().now(), std::chrono::seconds(5)));
    return table;
  }
};

TEST_F(GroupTest, EL_01_RanksThatStartTogetherAlwaysFormOneGroup) {
  for (int round = 0; round < 10; ++round) {
    const auto tables = form({info("a"), info("b"), info("a"), info("c")});
    for (const auto& table : tables) {
      ASSERT_TRUE(table.ok()) << table.status().to_string();
      EXPECT_EQ((*table).id, (*tables[0]).id);
      ASSERT_EQ((*table).members.size(), 4u);
      EXPECT_EQ((*table).members[2].site_index, 0);
      EXPECT_EQ((*table).members[3].site_index, 2);
      EXPECT_EQ((*table).members[1].name(1), "rank 1 (site b)");
    }
  }
}

TEST_F(GroupTest, MissingRanksAreNamedOnEveryRank) {
  const auto tables = form({info("a"), info("a"), info("a"), info("a")}, {1, 3}, std::chrono::milliseconds(500));
  for (const int rank : {0, 2}) {
    const Status status = tables[static_cast<std::size_t>(rank)].status();
    EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded) << status.to_string();
    EXPECT_NE(status.message().find("rank 1, 3"), std::string::npos) << status.message();
  }
}

TEST_F(GroupTest, RanksWithoutASiteAreNamedOnEveryRank) {
  for (const auto& table : form({info("a"), info(""), info("b")})) {
    EXPECT_EQ(table.status().code(), StatusCode::kInvalidArgument) << table.status().to_string();
    EXPECT_NE(table.status().message().find("rank 1"), std::string::npos) << table.status().message();
  }
}

TEST_F(GroupTest, SE03_SeveralSitesWithoutASecretAreRefusedWithBothWaysOut) {
  std::vector<ProcessInfo> infos{info("a"), info("b")};
  for (ProcessInfo& each : infos) each.security = SecurityLevel::kNone;
  for (const auto& table : form(infos)) {
    EXPECT_EQ(table.status().code(), StatusCode::kInvalidArgument) << table.status().to_string();
    EXPECT_NE(table.status().message().find("isthmus secret new"), std::string::npos) << table.status().message();
    EXPECT_NE(table.status().message().find("ISTHMUS_SECURITY=off"), std::string::npos) << table.status().message();
  }
  infos[1].site = "a";
  for (const auto& table : form(infos)) EXPECT_TRUE(table.ok()) << table.status().to_string();
}

TEST_F(GroupTest, SE03_DetectedSitesNeedASecretToo) {
  std::vector<ProcessInfo> infos{info("", "host 1"), info("", "host 2")};
  for (ProcessInfo& each : infos) each.security = SecurityLevel::kNone;
  site_rtt_ = Duration(1);  // any two hosts are two sites
  for (const auto& table : form(infos)) {
    EXPECT_EQ(table.status().code(), StatusCode::kInvalidArgument) << table.status().to_string();
    EXPECT_NE(table.status().message().find("isthmus secret new"), std::string::npos) << table.status().message();
  }
}

TEST_F(GroupTest, SE03_NobodyIsDowngraded) {
  for (const SecurityLevel other : {SecurityLevel::kNone, SecurityLevel::kSecured, SecurityLevel::kFull}) {
    std::vector<ProcessInfo> infos{info("a"), info("b")};
    infos[1].security = other;
    for (const auto& table : form(infos)) {
      EXPECT_EQ(table.status().code(), StatusCode::kInvalidArgument) << table.status().to_string();
      EXPECT_NE(table.status().message().find("authentication failed: rank 1 has"), std::string::npos)
          << table.status().message();
    }
  }
}

TEST_F(GroupTest, SE03_StoresThatOthersCanWriteTellASecretFromAnother) {
  const JobSecret first = *JobSecret::generate(), second = *JobSecret::generate();
  for (const auto& secrets :
       {std::vector<const JobSecret*>{&first, &second, &first}, std::vector<const JobSecret*>{&first, nullptr, &first},
        std::vector<const JobSecret*>{nullptr, &first, nullptr}}) {
    secrets_ = secrets;
    const TimePoint start = SteadyClock::instance().now();
    for (const auto& table : form({info("a"), info("b"), info("c")})) {
      EXPECT_EQ(table.status().code(), StatusCode::kInvalidArgument) << table.status().to_string();
      EXPECT_NE(table.status().message().find("authentication failed"), std::string::npos) << table.status().message();
    }
    EXPECT_LT(SteadyClock::instance().now() - start, std::chrono::seconds(5)) << "at once, not at the deadline";
  }
  secrets_ = {&first, &first, &first};
  for (const auto& table : form({info("a"), info("b"), info("c")})) EXPECT_TRUE(table.ok());
}

TEST_F(GroupTest, MX_01_AnotherProtocolVersionIsRefusedAndBothAreNamed) {
  ProcessInfo other = info("b");
  other.protocol_version = kProtocolVersion + 1;
  other.library_version = "9.9.9";
  for (const auto& table : form({info("a"), other})) {
    EXPECT_EQ(table.status().code(), StatusCode::kUnsupported) << table.status().to_string();
    EXPECT_NE(table.status().message().find(fmt::format("version {}", kProtocolVersion + 1)), std::string::npos)
        << table.status().message();
    EXPECT_NE(table.status().message().find("9.9.9"), std::string::npos) << table.status().message();
  }
}

TEST_F(GroupTest, OptionsThatMustBeEqualAreCompared) {
  ProcessInfo other = info("b");
  other.transport = "loopback segment_bytes=7";
  for (const auto& table : form({info("a"), other})) {
    EXPECT_EQ(table.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(table.status().message().find("segment_bytes=7"), std::string::npos) << table.status().message();
  }
}

TEST_F(GroupTest, WithoutSitesThoseWithinReachFormOne) {
  const auto tables = form({info("", "x"), info("", "y"), info("", "x")});  // streams in memory: microseconds
  for (const auto& table : tables) {
    ASSERT_TRUE(table.ok()) << table.status().to_string();
    for (const GroupMemberInfo& member : (*table).members) EXPECT_EQ(member.site, "site0");
  }
}

TEST(SiteDetection, HostsAreJoinedDirectlyOrThroughOthers) {
  std::vector<ProcessInfo> members(6);
  const char* hosts[] = {"x", "y", "x", "z", "w", "z"};
  for (std::size_t i = 0; i < members.size(); ++i) members[i].host_id = hosts[i];
  EXPECT_EQ(lead_ranks(members), (std::vector<int>{0, 1, 0, 3, 4, 3}));
  const std::vector<HostRoundTrip> measured{{0, 1, 900},   {1, 0, 950},  {0, 3, 30000},
                                            {1, 3, 30000}, {3, 4, 1500}, {0, 4, 31000}};
  EXPECT_EQ(detect_sites(members, measured, std::chrono::milliseconds(2)),
            (std::vector<std::string>{"site0", "site0", "site0", "site1", "site1", "site1"}));
  EXPECT_EQ(detect_sites(members, measured, std::chrono::microseconds(1000)),
            (std::vector<std::string>{"site0", "site0", "site0", "site1", "site2", "site1"}));
}

}  // namespace
}  // namespace isthmus
