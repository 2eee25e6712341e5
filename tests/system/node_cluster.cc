// SPDX-License-Identifier: Apache-2.0
#include "node_cluster.h"

#include <signal.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <sstream>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "shoal_run.h"

namespace shoal::tests {
namespace fs = std::filesystem;
namespace {

using std::chrono::seconds;

std::string InQuotes(const std::string& text) { return '"' + text + '"'; }

std::unique_ptr<cli::ChildProcess> StartProcess(const cli::ProcessSpec& spec) {
  auto process = cli::ChildProcess::Start(spec);
  INFO(runtime::Message(process.status()));
  REQUIRE(process.ok());
  return *std::move(process);
}

}  // namespace

NodeCluster::NodeCluster(std::size_t nodes, std::vector<NodeNetwork> networks)
    : networks_(std::move(networks)), nodes_(nodes) {
  Start("replay", {"replay.listen=" + InQuotes(replay_)});
  Start("inference", {"cluster.replay=[" + InQuotes(replay_) + "]",
                      "cluster.learner=" + InQuotes(At(0, learner_)),
                      "inference.listen=" + InQuotes(inference_)});
  Start("actor", {"cluster.inference=[" + InQuotes(inference_) + "]"});
}

void NodeCluster::StartNode(std::size_t node, const std::vector<std::string>& variables,
                            const std::vector<std::string>& flags) {
  std::vector<std::string> command;
  if (!networks_.empty()) command = networks_[node].Prefix();
  command.push_back("/usr/bin/env");
  command.insert(command.end(), variables.begin(), variables.end());
  command.push_back(SHOAL_PROGRAMS "/learner");
  command.insert(command.end(), flags.begin(), flags.end());
  command.insert(command.end(), {"--config", kNodeJob});
  for (const std::string& setting :
       {"run.directory=" + InQuotes(FolderOf(node)), std::string("run.name=\"run\""),
        "cluster.replay=[" + InQuotes(replay_) + "]",
        "learner.listen=" + InQuotes(At(node, learner_)),
        "learner.metrics_listen=" + InQuotes(At(node, metrics_)),
        std::string("learner.checkpoint_every_updates=10")}) {
    command.insert(command.end(), {"--set", setting});
  }
  nodes_[node] = StartProcess(
      {.name = "node-" + std::to_string(node), .command = command, .log_path = LogOf(node)});
}

void NodeCluster::KillNode(std::size_t node) {
  nodes_[node]->Kill();
  AwaitEnd(node);
}

void NodeCluster::Signal(std::size_t node, int signal) {
  REQUIRE(::kill(nodes_[node]->pid(), signal) == 0);
}

void NodeCluster::LoseDisk(std::size_t node) {
  fs::rename(FolderOf(node), folder_.At("lost-" + std::to_string(lost_++)));
}

cli::ExitState NodeCluster::AwaitEnd(std::size_t node) {
  std::optional<cli::ExitState> end;
  const bool ended = Eventually(seconds(60), [&] {
    end = nodes_[node]->Poll();
    return end.has_value();
  });
  INFO(Log());
  REQUIRE(ended);
  return *end;
}

std::int64_t NodeCluster::Saved(std::size_t node) const {
  const std::string name = FileOf(node, "checkpoints/LATEST");
  return name.empty() ? 0 : std::stoll(name.substr(name.find('-') + 1));
}

void NodeCluster::RequireSaved(std::size_t node, std::int64_t updates) const {
  const bool saved = Eventually(seconds(120), [&] { return Saved(node) >= updates; });
  INFO(Log());
  REQUIRE(saved);
}

std::set<std::string> NodeCluster::FilesOfNewest(std::size_t node) const {
  std::set<std::string> names;
  std::string name = FileOf(node, "checkpoints/LATEST");
  if (!name.empty()) name.pop_back();
  for (const auto& entry : fs::directory_iterator(FolderOf(node) + "/run/checkpoints/" + name)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

std::string NodeCluster::FileOf(std::size_t node, const std::string& name) const {
  return runtime::ReadFile(FolderOf(node) + "/run/" + name).value_or("");
}

std::string NodeCluster::Log(std::size_t node) const {
  return runtime::ReadFile(LogOf(node)).value_or("");
}

std::string NodeCluster::Log() const {
  std::string all;
  for (std::size_t node = 0; node < nodes_.size(); ++node) all += Log(node) + "\n";
  return all;
}

void NodeCluster::RequireNoUseTwice() const {
  std::set<std::string> uses;
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("unrolls") || !name.ends_with(".log")) continue;
    std::istringstream lines(runtime::ReadFile(entry.path().string()).value());
    // Environment, incarnation, first sequence, epoch, update and use.
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string numbers[6];
      for (std::string& number : numbers) words >> number;
      INFO(entry.path() << ": " << line);
      REQUIRE(
          uses.insert(numbers[0] + " " + numbers[1] + " " + numbers[2] + " " + numbers[5]).second);
    }
  }
  REQUIRE(uses.size() > 1000);
}

void NodeCluster::RequireSolved() {
  ShoalRun observer({"train", kNodeJob, "--attach", "--minutes", "3", "--set",
                     "cluster.inference=[" + InQuotes(inference_) + "]", "--set",
                     "train.metrics=[" + InQuotes(At(0, metrics_)) + "]", "--set",
                     "train.baselines=[]"});
  const bool ended = observer.WaitForExit(seconds(300));
  INFO(observer.output() << Log());
  REQUIRE(ended);
  REQUIRE(observer.exit().code == 0);
  REQUIRE(observer.last_line().starts_with("result greedy="));
  REQUIRE(NumberIn(" " + observer.last_line().substr(7), "greedy") >= 475);
}

std::string NodeCluster::FolderOf(std::size_t node) const {
  return folder_.At("node-" + std::to_string(node));
}

std::string NodeCluster::LogOf(std::size_t node) const {
  return folder_.At("node-" + std::to_string(node) + ".log");
}

std::string NodeCluster::At(std::size_t node, std::uint16_t port) const {
  const std::string host = networks_.empty() ? "127.0.0.1" : networks_[node].address();
  return host + ":" + std::to_string(port);
}

std::string NodeCluster::NewAddress(std::size_t node) const { return At(node, FreePort()); }

std::string NodeCluster::NewAddress() const {
  const std::string host = networks_.empty() ? "127.0.0.1" : NodeNetwork::kBridge;
  return host + ":" + std::to_string(FreePort());
}

void NodeCluster::Start(const std::string& program, std::vector<std::string> settings) {
  cli::ProcessSpec spec = {.name = program,
                           .command = {SHOAL_PROGRAMS "/" + program, "--config", kNodeJob},
                           .log_path = folder_.At(program + ".log")};
  settings.push_back("run.directory=" + InQuotes(folder_.At(program)));
  for (const std::string& setting : settings) {
    spec.command.insert(spec.command.end(), {"--set", setting});
  }
  others_.push_back(StartProcess(spec));
}

}  // namespace shoal::tests
