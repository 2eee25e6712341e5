// SPDX-License-Identifier: Apache-2.0
// A learner whose ranks are on two nodes that share no disk. The test starts the nodes, and starts
// them again as a job controller does.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "platform/runtime/atomic_file.h"
#include "shoal_run.h"
#include "tests/doubles/ranks.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::tests {
namespace {

namespace fs = std::filesystem;

using std::chrono::seconds;

constexpr std::size_t kNodes = 2;
constexpr const char* kJob = "deploy/local/cartpole.toml";

std::uint16_t FreePort() {
  const collectives::RankEnvironment group = doubles::NewGroup(1);
  ::close(group.master_listener);
  return group.master_port;
}

std::string Local(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }
std::string Quoted(const std::string& text) { return '"' + text + '"'; }

class Cluster {
 public:
  Cluster() {
    Start("replay", {"replay.listen=" + Quoted(replay_)});
    Start("inference",
          {"cluster.replay=[" + Quoted(replay_) + "]", "cluster.learner=" + Quoted(learner_),
           "inference.listen=" + Quoted(inference_)});
    Start("actor", {"cluster.inference=[" + Quoted(inference_) + "]"});
    StartNodes();
  }

  // Starts the ranks of both nodes, with one more start of the group.
  void StartNodes() {
    const std::uint16_t port = FreePort();
    for (std::size_t node = 0; node < kNodes; ++node) {
      cli::ProcessSpec spec = {
          .name = "node-" + std::to_string(node),
          .command = {"/usr/bin/env", "GROUP_RANK=" + std::to_string(node), "WORLD_SIZE=4",
                      "MASTER_ADDR=127.0.0.1", "MASTER_PORT=" + std::to_string(port),
                      "SHOAL_GROUP_EPOCH=" + std::to_string(starts_), SHOAL_PROGRAMS "/learner",
                      "--world-size=2", "--config", kJob},
          .log_path = LogOf(node)};
      for (const std::string& setting :
           {"run.directory=" + Quoted(FolderOf(node)), std::string("run.name=\"run\""),
            "cluster.replay=[" + Quoted(replay_) + "]", "learner.listen=" + Quoted(learner_),
            "learner.metrics_listen=" + Quoted(metrics_),
            std::string("learner.checkpoint_every_updates=10")}) {
        spec.command.insert(spec.command.end(), {"--set", setting});
      }
      nodes_[node] = StartProcess(spec);
    }
    ++starts_;
  }

  // Kills a node, loses its disk, and waits until the other one has ended.
  void LoseNode(std::size_t node) {
    nodes_[node]->Kill();
    REQUIRE(Eventually(seconds(10), [&] { return nodes_[node]->Poll().has_value(); }));
    fs::remove_all(FolderOf(node));
    INFO(Log());
    REQUIRE(Eventually(seconds(60), [&] { return nodes_[1 - node]->Poll().has_value(); }));
  }

  // Returns the number of updates in the newest checkpoint of a node.
  std::int64_t Saved(std::size_t node) const {
    const std::string name =
        runtime::ReadFile(FolderOf(node) + "/run/checkpoints/LATEST").value_or("");
    return name.empty() ? 0 : std::stoll(name.substr(name.find('-') + 1));
  }
  std::set<std::string> FilesOfNewest(std::size_t node) const {
    std::set<std::string> names;
    const std::string root = FolderOf(node) + "/run/checkpoints/";
    std::string name = runtime::ReadFile(root + "LATEST").value_or("");
    if (!name.empty()) name.pop_back();
    for (const auto& entry : fs::directory_iterator(root + name)) {
      names.insert(entry.path().filename().string());
    }
    return names;
  }
  std::string FileOf(std::size_t node, const std::string& name) const {
    return runtime::ReadFile(FolderOf(node) + "/run/" + name).value_or("");
  }
  std::string Log(std::size_t node) const { return runtime::ReadFile(LogOf(node)).value_or(""); }
  std::string Log() const { return Log(0) + "\n" + Log(1); }

  std::string metrics() const { return metrics_; }
  std::string inference() const { return inference_; }

 private:
  std::string FolderOf(std::size_t node) const {
    return folder_.At("node-" + std::to_string(node));
  }
  std::string LogOf(std::size_t node) const {
    return folder_.At("node-" + std::to_string(node) + ".log");
  }
  static std::unique_ptr<cli::ChildProcess> StartProcess(const cli::ProcessSpec& spec) {
    auto process = cli::ChildProcess::Start(spec);
    INFO(runtime::Message(process.status()));
    REQUIRE(process.ok());
    return *std::move(process);
  }
  void Start(const std::string& program, std::vector<std::string> settings) {
    cli::ProcessSpec spec = {.name = program,
                             .command = {SHOAL_PROGRAMS "/" + program, "--config", kJob},
                             .log_path = folder_.At(program + ".log")};
    settings.push_back("run.directory=" + Quoted(folder_.At(program)));
    for (const std::string& setting : settings) {
      spec.command.insert(spec.command.end(), {"--set", setting});
    }
    others_.push_back(StartProcess(spec));
  }

  const doubles::TemporaryFolder folder_;
  const std::string replay_ = Local(FreePort());
  const std::string inference_ = Local(FreePort());
  const std::string learner_ = Local(FreePort());
  const std::string metrics_ = Local(FreePort());
  int starts_ = 0;
  std::vector<std::unique_ptr<cli::ChildProcess>> others_;
  std::array<std::unique_ptr<cli::ChildProcess>, kNodes> nodes_;
};

// Requires that both nodes have saved at least so many updates.
void RequireSaved(const Cluster& cluster, std::int64_t updates) {
  const bool saved = Eventually(
      seconds(120), [&] { return cluster.Saved(0) >= updates && cluster.Saved(1) >= updates; });
  INFO(cluster.Log());
  REQUIRE(saved);
}

}  // namespace

TEST_CASE(
    "ranks on two nodes without a shared disk learn CartPole, although each node loses its disk",
    "[nodes]") {
  Cluster cluster;
  RequireSaved(cluster, 10);
  REQUIRE(cluster.FilesOfNewest(0).contains("part-0-of-2.safetensors"));
  REQUIRE(cluster.FilesOfNewest(1).contains("part-0-of-2.safetensors"));
  for (const std::size_t lost : {0, 1}) {
    const std::int64_t kept = cluster.Saved(1 - lost);
    cluster.LoseNode(lost);
    const std::int64_t saved = std::max(kept, cluster.Saved(1 - lost));
    cluster.StartNodes();
    RequireSaved(cluster, saved + 10);
    INFO(cluster.Log());
    REQUIRE(Count(cluster.Log(lost), "event=resumed update=" + std::to_string(saved) + " ") == 2);
  }
  // The number of starts, which the node that lost its disk has heard from the other one.
  REQUIRE(cluster.FileOf(0, "epoch") == "3\n");
  REQUIRE(cluster.FileOf(1, "epoch") == "3\n");

  ShoalRun observer({"train", kJob, "--attach", "--minutes", "3", "--set",
                     "cluster.inference=[" + Quoted(cluster.inference()) + "]", "--set",
                     "train.metrics=[" + Quoted(cluster.metrics()) + "]", "--set",
                     "train.baselines=[]"});
  const bool ended = observer.WaitForExit(seconds(300));
  INFO(observer.output() << cluster.Log());
  REQUIRE(ended);
  REQUIRE(observer.exit().code == 0);
  REQUIRE(observer.last_line().starts_with("result greedy="));
  REQUIRE(NumberIn(" " + observer.last_line().substr(7), "greedy") >= 475);
}

}  // namespace shoal::tests
