// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <map>
#include <string>
#include <vector>

#include "cli/cluster/local_cluster.h"
#include "cli/session/preset.h"
#include "local/thread_cluster.h"
#include "platform/runtime/config.h"
#include "rl/algorithms/policy_trainer.h"
#include "rl/collectives/gradient_reducer.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::local {
namespace {

// The files of deploy/local for presets that do not fit CartPole.
const std::map<std::string, std::string> kFiles = {
    {"agent57", "maze"},  {"dqn_her", "bit_flip"},  {"ngu", "maze"},
    {"r2d2", "corridor"}, {"r2d3", "mountain_car"}, {"sac", "pendulum_continuous"}};

// What the programs of a cluster read of a file and a preset.
ClusterSetup SetupOf(const cli::Preset& preset, const std::string& folder) {
  const auto found = kFiles.find(preset.name);
  const std::string file = found == kFiles.end() ? "cartpole" : found->second;
  std::vector<std::string> settings = preset.settings;
  settings.insert(settings.end(), {"run.directory=\"" + folder + "\"", "run.name=\"run\"",
                                   "learner.updates=2", "learner.demonstration_ratio=0.0"});
  ClusterSetup setup;
  runtime::Config config;
  config.Add("actor", setup.actor);
  config.Add("environment", setup.environment);
  config.Add("inference", setup.inference);
  config.Add("replay", setup.replay);
  config.Add("learner", setup.learner);
  config.Add("policy", setup.policy);
  config.Add("algorithm", setup.algorithm);
  config.Add("run", setup.run);
  config.Add("cluster", setup.cluster);
  const absl::Status loaded = config.Load("deploy/local/" + file + ".toml", settings);
  INFO(loaded);
  REQUIRE(loaded.ok());
  REQUIRE(setup.algorithm.AppendMembers(setup.policy).ok());
  return setup;
}

// Returns how two updates in one process end.
absl::Status TwoUpdates(ClusterSetup setup) {
  REQUIRE(cli::FillAddresses(setup.cluster, {.mockserver = false, .learner = true}).ok());
  std::promise<absl::Status> ended;
  std::atomic<bool> told = false;
  const auto tell = [&](const absl::Status& status) {
    if (!told.exchange(true)) ended.set_value(status);
  };
  ThreadCluster cluster(setup, {.on_failure = tell, .on_finished = [&](const std::string&) {
                                  tell(absl::OkStatus());
                                }});
  const absl::Status started = cluster.Start();
  if (!started.ok()) tell(started);
  auto end = ended.get_future();
  const bool in_time = end.wait_for(doubles::kLongWait) == std::future_status::ready;
  REQUIRE(doubles::Eventually([&] { return cluster.Stop(); }));
  return in_time ? end.get() : absl::DeadlineExceededError("no two updates");
}

}  // namespace

TEST_CASE("each preset that ships makes two updates over a cluster file that ships") {
  const auto presets = cli::LoadPresets("data");
  REQUIRE(presets.ok());
  REQUIRE(presets->size() > 20);
  for (const cli::Preset& preset : *presets) {
    INFO(preset.name);
    const doubles::TemporaryFolder folder;
    const ClusterSetup setup = SetupOf(preset, folder.path());
    if (setup.cluster.learner_ranks == 1) {
      const absl::Status ended = TwoUpdates(setup);
      INFO(ended);
      REQUIRE(ended.ok());
      continue;
    }
    // Its ranks are programs of their own.
    collectives::SingleRank alone;
    const auto trainer = algorithms::PolicyTrainer::Create(setup.policy, setup.algorithm, 1, alone);
    INFO(trainer.status());
    REQUIRE(trainer.ok());
    REQUIRE(setup.learner.asynchronous());
    REQUIRE((*trainer)->CheckAsynchronous().ok());
  }
}

}  // namespace shoal::local
