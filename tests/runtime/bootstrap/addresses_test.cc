#include "runtime/bootstrap/addresses.h"

#include <gtest/gtest.h>

namespace isthmus {
namespace {

using Hosts = std::vector<std::string>;

const std::vector<InterfaceAddress> kHost{
    {"lo", "127.0.0.1", true},        {"eth0", "10.1.0.5", false}, {"veth0", "192.168.7.2", false},
    {"docker0", "172.17.0.1", false}, {"lo", "::1", true},         {"eth0", "2001:db8::5", false}};

TEST(SelectAddresses, ByNamePrefixAddressAndCidr) {
  EXPECT_EQ(*select_addresses(kHost, "eth0"), (Hosts{"10.1.0.5", "2001:db8::5"}));
  EXPECT_EQ(*select_addresses(kHost, "veth*, docker0"), (Hosts{"192.168.7.2", "172.17.0.1"}));
  EXPECT_EQ(*select_addresses(kHost, "192.168.7.2"), (Hosts{"192.168.7.2"}));
  EXPECT_EQ(*select_addresses(kHost, "10.0.0.0/8"), (Hosts{"10.1.0.5"}));
  EXPECT_EQ(*select_addresses(kHost, "2001:db8::/32"), (Hosts{"2001:db8::5"}));
}

TEST(SelectAddresses, NW_03_LoopbackOnlyByItsName) {
  EXPECT_EQ(*select_addresses(kHost, "veth0"), (Hosts{"192.168.7.2"}));
  EXPECT_EQ(*select_addresses(kHost, "^docker0"), (Hosts{"10.1.0.5", "192.168.7.2", "2001:db8::5"}));
  EXPECT_EQ(*select_addresses(kHost, "eth0,^10.0.0.0/8"), (Hosts{"2001:db8::5"}));
  EXPECT_EQ(*select_addresses(kHost, "lo"), (Hosts{"127.0.0.1", "::1"}));
  EXPECT_FALSE(select_addresses(kHost, "127.0.0.0/8").ok());
}

TEST(SelectAddresses, NW_14_WhatPicksNothingIsAnErrorThatListsWhatThereIs) {
  for (const char* selection : {"eno1", "10.9.0.0/16", "eth0,eno1", "eth0,^eth0"}) {
    const auto chosen = select_addresses(kHost, selection);
    ASSERT_FALSE(chosen.ok()) << selection;
    EXPECT_EQ(chosen.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(chosen.status().message().find("veth0 192.168.7.2"), std::string::npos) << chosen.status().message();
  }
  EXPECT_FALSE(select_addresses(kHost, "10.0.0.0/33").ok());
}

TEST(ChooseBindHosts, OneHostIsLoopbackAndNothingElse) {
  const auto hosts = choose_bind_hosts(BindRequest(), Options());
  ASSERT_TRUE(hosts.ok()) << hosts.status().to_string();
  ASSERT_EQ((*hosts).size(), 1u);
  EXPECT_TRUE((*hosts)[0] == "127.0.0.1" || (*hosts)[0] == "::1");
}

TEST(ChooseBindHosts, NW_01_RemotePeersNeverGetLoopback) {
  BindRequest request;
  request.all_on_one_host = false;
  request.peer_hosts = {"127.0.0.1"};  // a route through loopback is none
  const auto hosts = choose_bind_hosts(request, Options());
  ASSERT_FALSE(hosts.ok());
  EXPECT_EQ(hosts.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(hosts.status().message().find("loopback"), std::string::npos) << hosts.status().message();
}

}  // namespace
}  // namespace isthmus
