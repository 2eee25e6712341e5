// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <catch2/catch.hpp>
#include <set>
#include <sstream>

#include "shoal_run.h"

namespace shoal::tests {
namespace {

using std::chrono::seconds;

std::vector<std::string> ShortRun(const std::string& minutes,
                                  const std::vector<std::string>& settings = {}) {
  std::vector<std::string> arguments = {
      "train", "deploy/local/redfish.toml", "--minutes", minutes, "--goals", "1,3", "--episodes",
      "2"};
  std::vector<std::string> all = {"train.baselines=[]", "train.stop_score=-1",
                                  "train.evaluate_every_seconds=0",
                                  "train.demonstration_episodes=0"};
  all.insert(all.end(), settings.begin(), settings.end());
  for (const std::string& setting : all) arguments.insert(arguments.end(), {"--set", setting});
  return arguments;
}

using Deadline = std::chrono::steady_clock::time_point;

Deadline After(seconds limit) { return std::chrono::steady_clock::now() + limit; }

// Returns whether environment steps and updates grow, measured from what is recorded after this
// call.
bool Flows(ShoalRun& run, Deadline deadline) {
  const std::size_t rows = run.recorded_rows();
  if (!Eventually(deadline, [&] { return run.recorded_rows() > rows; })) return false;
  const double steps = run.environment_steps();
  const double updates = run.updates();
  return Eventually(
      deadline, [&] { return run.environment_steps() > steps && run.updates() >= updates + 2; });
}

// Reads the ids that the learner logged before each update: environment, incarnation, first
// sequence.
void RequireNoneTwice(const ShoalRun& run) {
  std::set<std::string> seen;
  std::istringstream lines(run.File("unrolls.log"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string environment;
    std::string incarnation;
    std::string sequence;
    words >> environment >> incarnation >> sequence;
    INFO(line);
    REQUIRE(seen.insert(environment + " " + incarnation + " " + sequence).second);
  }
  REQUIRE(seen.size() > 100);
}

}  // namespace

TEST_CASE("any one process may be killed: the flow goes on, and no unroll is trained twice",
          "[kills]") {
  ShoalRun run(ShortRun("5"));
  REQUIRE(Flows(run, After(seconds(60))));
  for (const char* kind : {"actor", "inference", "replay", "learner", "mockserver"}) {
    INFO(kind << "\n" << run.output());
    const std::vector<pid_t> pids = run.Children(kind);
    REQUIRE(pids.size() == 1);
    const Deadline deadline = After(seconds(20));
    REQUIRE(::kill(pids[0], SIGKILL) == 0);
    REQUIRE(Eventually(deadline, [&] {
      const std::vector<pid_t> now = run.Children(kind);
      return now.size() == 1 && now[0] != pids[0];
    }));
    REQUIRE(Flows(run, deadline));
  }
  run.Interrupt();
  REQUIRE(run.WaitForExit(seconds(10)));
  INFO(run.output());
  REQUIRE(run.exit().code == 130);
  RequireNoneTwice(run);
}

TEST_CASE("a shard that dies again and again makes no unroll train twice", "[kills]") {
  ShoalRun run(ShortRun("5"));
  REQUIRE(Flows(run, After(seconds(60))));
  for (int kill = 0; kill < 3; ++kill) {
    const std::vector<pid_t> pids = run.Children("replay");
    REQUIRE(pids.size() == 1);
    const Deadline deadline = After(seconds(20));
    REQUIRE(::kill(pids[0], SIGKILL) == 0);
    REQUIRE(Eventually(deadline, [&] {
      const std::vector<pid_t> now = run.Children("replay");
      return now.size() == 1 && now[0] != pids[0];
    }));
    REQUIRE(Flows(run, deadline));
  }
  run.Interrupt();
  REQUIRE(run.WaitForExit(seconds(10)));
  INFO(run.output());
  REQUIRE(run.exit().code == 130);
  RequireNoneTwice(run);
}

TEST_CASE("a kill during the final evaluation does not cost the result", "[kills]") {
  for (const char* kind : {"inference", "actor"}) {
    INFO(kind);
    // The first evaluation during training ends it, and its version is the one that is evaluated.
    ShoalRun run(ShortRun(
        "2", {"train.stop_score=0", "train.stop_evaluations=1", "train.stop_mutations=0",
              "train.stop_steps=0", "train.stop_pair_success=0", "train.evaluate_every_seconds=5",
              "train.evaluate_episodes=2", "train.final_episodes=30"}));
    REQUIRE(Eventually(seconds(90), [&] { return !run.File("evaluations/final.log").empty(); }));
    const std::vector<pid_t> pids = run.Children(kind);
    REQUIRE(pids.size() == 1);
    REQUIRE(::kill(pids[0], SIGKILL) == 0);
    REQUIRE(run.WaitForExit(seconds(120)));
    INFO(run.output());
    REQUIRE(run.exit().code == 0);
    REQUIRE(run.last_line().starts_with("result success="));
  }
}

TEST_CASE("Ctrl-C ends everything within five seconds and leaves no process behind",
          "[interrupt]") {
  ShoalRun run(ShortRun("5"));
  REQUIRE(Flows(run, After(seconds(60))));
  REQUIRE(run.Children().size() == 5);
  const std::vector<pid_t> children = run.Children();
  run.Interrupt();
  const bool ended = run.WaitForExit(seconds(5));
  INFO(run.output());
  REQUIRE(ended);
  REQUIRE(run.exit().code == 130);
  REQUIRE(run.output().find("killed") == std::string::npos);
  REQUIRE(run.Children().empty());
}

TEST_CASE("when shoal itself is killed, nothing is left either", "[interrupt]") {
  ShoalRun run(ShortRun("5"));
  REQUIRE(Eventually(seconds(30), [&] { return run.Children().size() == 5; }));
  run.Kill();
  REQUIRE(run.WaitForExit(seconds(5)));
  REQUIRE(Eventually(seconds(5), [&] { return run.Children().empty(); }));
}

}  // namespace shoal::tests
