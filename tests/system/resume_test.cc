// SPDX-License-Identifier: Apache-2.0
// Runs that are killed or stopped as a whole, and go on.
#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "shoal_run.h"

namespace shoal::tests {
namespace {

using std::chrono::seconds;

constexpr int kUpdates = 80;

std::vector<std::string> InLockStep(const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {
      "train", "deploy/local/cartpole.toml", "--seed", "1", "--episodes", "1"};
  std::vector<std::string> settings = {
      "run.deterministic=true", "learner.updates=" + std::to_string(kUpdates),
      "learner.checkpoint_every_updates=7", "train.evaluate_every_seconds=0", "train.baselines=[]"};
  settings.insert(settings.end(), more.begin(), more.end());
  for (const std::string& setting : settings) {
    arguments.insert(arguments.end(), {"--set", setting});
  }
  return arguments;
}

// Waits until the run has ended whole, and returns the digest of its parameters.
std::string DigestAtTheEnd(ShoalRun& run) {
  REQUIRE(run.WaitForExit(seconds(240)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  const std::string output = run.output();
  const std::size_t at = output.rfind("\ndigest=");
  REQUIRE(at != std::string::npos);
  return output.substr(at + 1, output.find('\n', at + 1) - at - 1);
}

bool HasUpdated(ShoalRun& run, double updates) {
  return Eventually(seconds(120), [&] { return run.Last("learner.jsonl", "update") >= updates; });
}

// Returns each line of a .jsonl file of the run.
std::vector<nlohmann::json> Rows(const ShoalRun& run, const std::string& file) {
  std::vector<nlohmann::json> rows;
  std::istringstream lines(run.File(file));
  for (std::string line; std::getline(lines, line);) rows.push_back(nlohmann::json::parse(line));
  return rows;
}

void KillAllAndResume(ShoalRun& run) {
  run.Kill();
  REQUIRE(run.WaitForExit(seconds(10)));
  REQUIRE(Eventually(seconds(10), [&] { return run.Children().empty(); }));
  run.Resume();
}

void StopAndResume(ShoalRun& run) {
  run.Interrupt();
  REQUIRE(run.WaitForExit(seconds(10)));
  REQUIRE(run.exit().code == 130);
  REQUIRE(run.output().find("to go on: shoal train --resume ") != std::string::npos);
  run.Resume();
}

// Kills the only child of this kind, which the run starts again.
void KillChild(const ShoalRun& run, const std::string& program) {
  const std::vector<pid_t> pids = run.Children(program);
  REQUIRE(pids.size() == 1);
  REQUIRE(::kill(pids[0], SIGKILL) == 0);
}

const std::map<std::string, std::vector<std::string>> kNetworks = {
    {"feed-forward", {"learner.checkpoint_every_updates=7"}},
    // There, both kills come after the same checkpoint.
    {"recurrent, unrolls overlap",
     {"policy.core=\"gru\"", "inference.unroll_overlap=16", "learner.burn_in=16",
      "learner.checkpoint_every_updates=16"}},
};

// Returns the digest of a run in lock step that nobody disturbs, which is computed once for all
// tests.
const std::string& DigestOfWhole(const std::vector<std::string>& settings) {
  static std::map<std::vector<std::string>, std::string> known;
  auto found = known.find(settings);
  if (found == known.end()) {
    ShoalRun whole(InLockStep(settings));
    found = known.emplace(settings, DigestAtTheEnd(whole)).first;
  }
  return found->second;
}

}  // namespace

TEST_CASE("a run in lock step that is killed or stopped and goes on ends with the same bits",
          "[determinism]") {
  const std::string network = GENERATE("feed-forward", "recurrent, unrolls overlap");
  INFO(network);
  const std::string& digest = DigestOfWhole(kNetworks.at(network));
  ShoalRun run(InLockStep(kNetworks.at(network)));
  REQUIRE(HasUpdated(run, 18));
  KillAllAndResume(run);
  REQUIRE(HasUpdated(run, 26));
  StopAndResume(run);
  REQUIRE(DigestAtTheEnd(run) == digest);
  const std::string log = run.File("logs/inference-0.log");
  REQUIRE(Count(log, "event=environments_resumed ") == 2);
  REQUIRE(Count(log, "event=environments_not_resumed ") == 0);
  REQUIRE(Count(run.File("logs/actor-0.log"), "event=episode_not_resumed ") == 0);
}

TEST_CASE("a learner or an inference server that is killed in lock step changes no bit",
          "[determinism]") {
  const std::vector<std::string>& settings = kNetworks.at("feed-forward");
  const std::string& digest = DigestOfWhole(settings);
  const std::string victim = GENERATE("learner", "inference");
  INFO(victim);
  ShoalRun run(InLockStep(settings));
  REQUIRE(HasUpdated(run, 20));
  KillChild(run, victim);
  REQUIRE(DigestAtTheEnd(run) == digest);
  REQUIRE(Count(run.File("logs/inference-0.log"), "event=environments_resumed ") == 1);
}

TEST_CASE("a run that was killed goes on with its time, steps, evaluations and best version",
          "[resume]") {
  ShoalRun run({"train", "deploy/local/cartpole.toml", "--seed", "1", "--minutes", "0.5",
                "--episodes", "5", "--set", "train.baselines=[]", "--set",
                "train.evaluate_every_seconds=2", "--set", "train.stop_score=1e9"});
  REQUIRE(Eventually(seconds(60), [&] {
    return Rows(run, "evaluations.jsonl").size() >= 2 && !run.File("best/best.json").empty();
  }));
  run.Kill();
  REQUIRE(run.WaitForExit(seconds(10)));
  const std::size_t evaluations = Rows(run, "evaluations.jsonl").size();
  const double trained = run.Last("metrics.jsonl", "seconds");
  const double steps = run.Last("metrics.jsonl", "environment_steps");
  const auto begun = std::chrono::steady_clock::now();
  run.Resume();
  REQUIRE(Eventually(seconds(60), [&] { return run.Last("metrics.jsonl", "seconds") > trained; }));
  ShoalRun second({"train", "--resume", run.folder() + "/run"});
  REQUIRE(second.WaitForExit(seconds(30)));
  REQUIRE(second.output().find("goes on in another program") != std::string::npos);
  REQUIRE(second.exit().code != 0);

  REQUIRE(run.WaitForExit(seconds(120)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  REQUIRE(run.last_line().starts_with("result greedy="));
  const double left = 30 - trained;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  REQUIRE(run.Last("metrics.jsonl", "seconds") >= 30);
  REQUIRE(took.count() >= left);
  REQUIRE(NumberIn(run.last_line(), "env_steps") > steps);
  REQUIRE(Rows(run, "evaluations.jsonl").size() > evaluations);
  const std::vector<nlohmann::json> rows = Rows(run, "metrics.jsonl");
  REQUIRE(std::is_sorted(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.at("environment_steps").template get<double>() <
           b.at("environment_steps").template get<double>();
  }));
  REQUIRE(run.output().find("judging version ") != std::string::npos);
  const nlohmann::json described = nlohmann::json::parse(run.File("run.json"));
  REQUIRE(described.at("resumed").size() == 1);
  REQUIRE(described.at("name") == "run");
}

TEST_CASE("--resume refuses what is no run, and what a run has begun with", "[resume]") {
  const EndedRun none = RunToEnd({"train", "--resume", "/tmp"});
  REQUIRE(none.code != 0);
  REQUIRE(none.Says("config.toml"));
  REQUIRE(RunToEnd({"train"}).Says("FILE or --resume"));
  for (const char* const flag : {"--seed", "--name", "--hold-out"}) {
    INFO(flag);
    const EndedRun refused = RunToEnd({"train", "--resume", "/tmp", flag, "1"});
    REQUIRE(refused.code != 0);
    REQUIRE(refused.Says(flag));
  }
}

}  // namespace shoal::tests
