// Meshes of several processes in one: processes 100, 101, ..., each with a witness of what its mesh tells.
//
// Threads: the test's thread; witnesses are told on the meshes' threads.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/bootstrap/mesh_thread.h"

namespace isthmus::testing {

struct Witness final : PeerMeshHandler {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::pair<ProcessId, std::string>> messages;
  std::vector<ProcessId> dead, suspects, gone;
  std::vector<bool> silences;
  std::string death_message;

  template <typename Done>
  bool wait(Done done) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, std::chrono::seconds(10), done);
  }
  void note(const std::function<void()>& fn) {
    std::lock_guard lock(mutex);
    fn();
    changed.notify_all();
  }
  void on_message(ProcessId from, std::string_view text) override {
    note([&] { messages.emplace_back(from, text); });
  }
  void on_peer_dead(ProcessId peer, const Status& why) override {
    note([&] {
      dead.push_back(peer);
      death_message = why.message();
    });
  }
  void on_peer_suspect(ProcessId peer, const std::string&, Duration) override {
    note([&] { suspects.push_back(peer); });
  }
  void on_path_silent(ProcessId, bool silent) override {
    note([&] { silences.push_back(silent); });
  }
  void on_goodbye(ProcessId peer) override {
    note([&] { gone.push_back(peer); });
  }
};

template <typename Network>
class MeshWorld : public ::testing::Test {
 protected:
  void start(int count, const PeerMeshOptions& options = {}) {
    for (int i = 0; i < count; ++i) {
      witnesses_.push_back(std::make_unique<Witness>());
      ProcessInfo info;
      info.process = static_cast<ProcessId>(100 + i);
      meshes_.push_back(PeerMesh::create(options, &network_, info.process, witnesses_.back().get()).value());
      info.control_addresses = {meshes_.back()->listen("127.0.0.1", "", 0, 0).value()};
      infos_.push_back(info);
    }
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([this, i] {
        std::vector<ProcessInfo> peers;
        std::vector<std::string> names;
        for (std::size_t j = 0; j < infos_.size(); ++j) {
          if (static_cast<int>(j) == i) continue;
          peers.push_back(infos_[j]);
          names.push_back(fmt::format("rank {}", j));
        }
        const Status status = meshes_[static_cast<std::size_t>(i)]->connect(peers, names, soon());
        EXPECT_TRUE(status.ok()) << status.to_string();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  static TimePoint soon() { return deadline_after(SteadyClock::instance().now(), std::chrono::seconds(10)); }

  Network network_;
  std::vector<std::unique_ptr<Witness>> witnesses_;
  std::vector<ProcessInfo> infos_;
  std::vector<std::unique_ptr<PeerMesh>> meshes_;
};

}  // namespace isthmus::testing
