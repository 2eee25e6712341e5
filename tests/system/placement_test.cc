// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "shoal_run.h"

namespace shoal::tests {

namespace {

// Places a network by a run's policy, with few evaluations.
EndedRun Place(const std::string& policy, const std::string& seed) {
  return RunToEnd({"place", "data/placement/graphs/rnnlm.json", "--devices",
                   "data/placement/devices/k80.toml", "--evaluations", "200", "--policy", policy,
                   "--samples", "3", "--refine", "100", "--searches", "annealing", "--seed", seed});
}

// Returns the line of the table that tells what the policy's samples reached.
std::string SamplesOf(const EndedRun& placed) {
  INFO(placed.output);
  const std::size_t at = placed.output.find("\npolicy samples ");
  REQUIRE(at != std::string::npos);
  return placed.output.substr(at, placed.output.find('\n', at + 1) - at);
}

}  // namespace

TEST_CASE("A policy learns to place random networks, and places one that it has never seen",
          "[placement]") {
  ShoalRun run({"train", "deploy/local/placement.toml", "--seed", "1", "--minutes", "0.8",
                "--in-process", "--set", "environment.placement.most_groups=12", "--set",
                "train.evaluate_every_seconds=0", "--set", "train.final_episodes=40", "--set",
                "train.baselines=[]"});
  REQUIRE(run.WaitForExit(std::chrono::seconds(200)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  // Against rules, which are -100 each. What the policy does before it has learned is below -110.
  REQUIRE(NumberIn(" " + run.last_line().substr(7), "greedy") >= -100);

  const std::string policy = run.folder() + "/run";
  const EndedRun placed = Place(policy, "1");
  INFO(placed.output);
  REQUIRE(placed.code == 0);
  REQUIRE(placed.Says("\npolicy "));
  REQUIRE(placed.Says("\npolicy samples "));
  REQUIRE(placed.Says("\npolicy refined "));
  REQUIRE(SamplesOf(Place(policy, "1")) == SamplesOf(placed));
}

TEST_CASE("The recurrent policy searches in a program of its own, by its seed, until it is stopped",
          "[placement]") {
  const auto arguments = [](const std::string& seed, const std::string& evaluations,
                            const std::string& devices) {
    return std::vector<std::string>{"place",         "data/placement/graphs/rnnlm.json",
                                    "--devices",     "data/placement/devices/k80.toml",
                                    "--evaluations", evaluations,
                                    "--searches",    "placement-reinforce",
                                    "--seed",        seed,
                                    "--set",         "placement.search.reinforce.hidden=16",
                                    "--set",         "placement.device.gpu.count=" + devices};
  };
  const EndedRun one = RunToEnd(arguments("1", "300", "2"));
  INFO(one.output);
  REQUIRE(one.code == 0);
  REQUIRE(one.Says("\nplacement-reinforce "));
  REQUIRE(one.Says(" on 3 devices"));
  // Without the lines of progress before it, which come by the clock.
  const auto answer = [](const EndedRun& run) {
    return run.output.substr(run.output.find("rnnlm: 287 operations"));
  };
  REQUIRE(answer(RunToEnd(arguments("1", "300", "2"))) == answer(one));
  REQUIRE(answer(RunToEnd(arguments("2", "300", "2"))) != answer(one));

  std::vector<std::string> colocated = arguments("1", "300", "2");
  colocated.insert(colocated.end(), {"--group-by", "colocation"});
  const EndedRun other = RunToEnd(colocated);
  INFO(other.output);
  REQUIRE(other.code == 0);
  REQUIRE(other.Says("\nplacement-reinforce "));
  REQUIRE_FALSE(other.Says(" in 22 groups"));

  ShoalRun endless(arguments("1", "1000000000", "2"));
  REQUIRE(Eventually(std::chrono::seconds(60), [&] {
    return endless.output().find("placement-reinforce: ") != std::string::npos;
  }));
  endless.Interrupt();
  REQUIRE(endless.WaitForExit(std::chrono::seconds(30)));
  INFO(endless.output());
  REQUIRE(endless.exit().code == 0);
  REQUIRE(endless.output().find("\nplacement-reinforce ") != std::string::npos);
  REQUIRE(endless.output().find("this is the best so far") != std::string::npos);
}

TEST_CASE("Placement in lock step gives the same parameters, and goes on when an actor is killed",
          "[determinism]") {
  const std::vector<std::string> arguments = {"train",      "deploy/local/placement.toml",
                                              "--seed",     "1",
                                              "--episodes", "1",
                                              "--set",      "run.deterministic=true",
                                              "--set",      "learner.updates=12",
                                              "--set",      "learner.round_unrolls=32",
                                              "--set",      "environment.placement.most_groups=12",
                                              "--set",      "train.evaluate_every_seconds=0",
                                              "--set",      "train.baselines=[]"};
  const auto digest = [](ShoalRun& run) {
    REQUIRE(run.WaitForExit(std::chrono::seconds(240)));
    INFO(run.output());
    REQUIRE(run.exit().code == 0);
    const std::string output = run.output();
    const std::size_t at = output.find("\ndigest=");
    REQUIRE(at != std::string::npos);
    return output.substr(at + 1, output.find('\n', at + 1) - at - 1);
  };
  ShoalRun one(arguments);
  ShoalRun another(arguments);
  REQUIRE(digest(one) == digest(another));
  // A policy that has learned little does otherwise with each seed.
  const std::string policy = one.folder() + "/run";
  const std::string samples = SamplesOf(Place(policy, "1"));
  REQUIRE((SamplesOf(Place(policy, "2")) != samples || SamplesOf(Place(policy, "3")) != samples));
  ShoalRun killed(arguments);
  REQUIRE(Eventually(std::chrono::seconds(120),
                     [&] { return killed.Last("learner.jsonl", "update") >= 4; }));
  const std::vector<pid_t> actors = killed.Children("actor");
  REQUIRE(actors.size() == 1);
  REQUIRE(::kill(actors[0], SIGKILL) == 0);
  digest(killed);
  REQUIRE(killed.Last("learner.jsonl", "update") == 12);
}

}  // namespace shoal::tests
