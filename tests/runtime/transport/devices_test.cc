#include "runtime/transport/devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace isthmus {
namespace {

using ::testing::HasSubstr;

const NetworkDevice kEth0{"eth0", "eth0", {"10.0.0.1", "2001:db8::1"}, 10'000};
const NetworkDevice kEth1{"eth1", "eth1", {"10.1.0.1"}, 1'000};
const NetworkDevice kMlx{"mlx5_0:1", "eth0", {"10.0.0.1"}, 100'000, true};
const NetworkDevice kMlxFast{"mlx5_1:1", "eth0", {"10.0.0.1"}, 400'000, true};
const NetworkDevice kMlxDown{"mlx5_2:1", "eth0", {"10.0.0.1"}, 800'000, true, false};
const NetworkDevice kEfa{"efa_0:1", "eth0", {"10.0.0.1"}, 100'000, true};

Result<UcxDevices> choose(std::vector<NetworkDevice> found, const char* host, const char* transports = "auto",
                          const char* devices = "auto") {
  return choose_ucx_devices(found, host, transports, devices);
}

TEST(UcxDevices, TakesTheInterfaceThatHasTheAddress) {
  const auto choice = choose({kEth0, kEth1}, "10.1.0.1");
  ASSERT_TRUE(choice.ok()) << choice.status().to_string();
  EXPECT_EQ(choice->transports, "tcp");
  EXPECT_EQ(choice->devices, "eth1");
  EXPECT_THAT(choice->reason, HasSubstr("no RDMA device is here"));
  EXPECT_EQ(choose({kEth0, kEth1}, "2001:db8::1")->devices, "eth0");
}

TEST(UcxDevices, PrefersAnRdmaPortOfThatInterface) {
  const auto choice = choose({kEth0, kEth1, kMlx}, "10.0.0.1");
  EXPECT_EQ(choice->transports, "rc,tcp");
  EXPECT_EQ(choice->devices, "mlx5_0:1,eth0");
  EXPECT_THAT(choice->reason, HasSubstr("mlx5_0:1"));
}

TEST(UcxDevices, TakesTheFastestActivePort) {
  EXPECT_EQ(choose({kEth0, kMlx, kMlxFast, kMlxDown}, "10.0.0.1")->devices, "mlx5_1:1,eth0");
}

TEST(UcxDevices, SaysWhyAnRdmaPortIsNotTaken) {
  const auto other = choose({kEth0, kEth1, kMlx}, "10.1.0.1");
  EXPECT_EQ(other->devices, "eth1");
  EXPECT_THAT(other->reason, HasSubstr("mlx5_0:1: it does not belong to eth1"));
  EXPECT_THAT(choose({kEth0, kMlxDown}, "10.0.0.1")->reason, HasSubstr("mlx5_2:1: its port is not active"));
  const auto efa = choose({kEth0, kEfa}, "10.0.0.1");
  EXPECT_EQ(efa->transports, "tcp");
  EXPECT_THAT(efa->reason, HasSubstr("efa_0:1: UCX has no rc for it"));
}

TEST(UcxDevices, OptionsWin) {
  EXPECT_EQ(choose({kEth0, kMlx}, "10.0.0.1", "tcp")->transports, "tcp");
  EXPECT_EQ(choose({kEth0, kMlx}, "10.0.0.1", "tcp")->devices, "eth0");
  EXPECT_EQ(choose({kEth0, kMlx}, "10.0.0.1", "dc,tcp")->transports, "dc,tcp");
  EXPECT_EQ(choose({kEth0, kMlx}, "10.0.0.1", "auto", "mlx5_9:1,eth0")->devices, "mlx5_9:1,eth0");
  const Status status = choose({kEth0, kMlx}, "10.0.0.1", "rc").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.message(), HasSubstr("ucx_tls=\"rc\""));
}

TEST(UcxDevices, AnAddressOfAnotherHostIsRefused) {
  const Status status = choose({kEth0, kMlx}, "10.9.9.9").status();
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("10.9.9.9"));
}

TEST(UcxDevices, AreDescribedForEachAddress) {
  const std::vector<NetworkDevice> found = {kEth0, kEth1, kMlx};
  const auto lines = describe_ucx_devices(found, "auto", "auto");
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_THAT(lines[0], HasSubstr("10.0.0.1 of eth0: TLS=rc,tcp NET_DEVICES=mlx5_0:1,eth0 (auto: "));
  EXPECT_THAT(lines[2], HasSubstr("10.1.0.1 of eth1: TLS=tcp"));
}

// A made-up sysfs with one RDMA port on this host's loopback.
TEST(NetworkDevices, AreReadFromTheKernel) {
  std::string folder = "/tmp/isthmus-devices-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::filesystem::path port = std::filesystem::path(folder) / "class/infiniband/mlx5_7/ports/1";
  std::filesystem::create_directories(port / "gid_attrs/ndevs");
  std::ofstream(port / "state") << "4: ACTIVE\n";
  std::ofstream(port / "rate") << "100 Gb/sec (4X EDR)\n";
  std::ofstream(port / "gid_attrs/ndevs/0") << "lo\n";
  const auto devices = find_network_devices(folder);
  std::filesystem::remove_all(folder);

  ASSERT_GE(devices.size(), 2u);
  const NetworkDevice& rdma = devices.back();
  EXPECT_EQ(rdma.name, "mlx5_7:1");
  EXPECT_EQ(rdma.interface, "lo");
  EXPECT_EQ(rdma.speed_mbit, 100'000);
  EXPECT_TRUE(rdma.is_rdma && rdma.is_active);
  EXPECT_THAT(rdma.hosts, testing::Contains("127.0.0.1"));
  EXPECT_EQ(choose_ucx_devices(devices, "127.0.0.1", "auto", "auto")->devices, "mlx5_7:1,lo");
}

}  // namespace
}  // namespace isthmus
