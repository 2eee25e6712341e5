// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "shoal_run.h"

namespace shoal::tests {
namespace {

using std::chrono::seconds;

std::string DigestOfFiftyUpdates(const std::string& seed) {
  ShoalRun run({"train", "deploy/local/cartpole.toml", "--seed", seed, "--episodes", "1", "--set",
                "run.deterministic=true", "--set", "learner.updates=50", "--set",
                "train.evaluate_every_seconds=0", "--set", "train.baselines=[]"});
  REQUIRE(run.WaitForExit(seconds(120)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  const std::string output = run.output();
  const std::size_t at = output.find("\ndigest=");
  REQUIRE(at != std::string::npos);
  return output.substr(at + 1, output.find('\n', at + 1) - at - 1);
}

}  // namespace

TEST_CASE("CartPole is learned in half a minute from a cold start", "[cartpole]") {
  ShoalRun run({"train", "deploy/local/cartpole.toml", "--seed", "1"});
  REQUIRE(run.WaitForExit(seconds(150)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  REQUIRE(run.last_line().starts_with("result greedy="));
  REQUIRE(NumberIn(" " + run.last_line().substr(7), "greedy") >= 475);
  REQUIRE(NumberIn(run.last_line(), "seconds") <= 30);
  for (const char* file : {"config.toml", "run.json", "metrics.jsonl", "result.json", "report.html",
                           "logs/learner-0.log"}) {
    INFO(file);
    REQUIRE_FALSE(run.File(file).empty());
  }
}

TEST_CASE("the same seed gives the same parameters, bit by bit", "[determinism]") {
  const std::string digest = DigestOfFiftyUpdates("1");
  REQUIRE(DigestOfFiftyUpdates("1") == digest);
  REQUIRE(DigestOfFiftyUpdates("2") != digest);
}

TEST_CASE("two learner ranks learn CartPole and agree in every bit after every update",
          "[cartpole]") {
  ShoalRun run({"train", "deploy/local/cartpole.toml", "--seed", "1", "--world-size", "2",
                "--episodes", "1", "--set", "learner.verify_ranks=true", "--set",
                "learner.updates=60", "--set", "train.evaluate_every_seconds=0", "--set",
                "train.baselines=[]"});
  REQUIRE(run.WaitForExit(seconds(150)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  REQUIRE(run.output().find("event=ended") == std::string::npos);
}

}  // namespace shoal::tests
