// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>

#include "shoal_run.h"

namespace shoal::tests {

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

  const EndedRun placed =
      RunToEnd({"place", "data/placement/graphs/rnnlm.json", "--devices",
                "data/placement/devices/k80.toml", "--evaluations", "200", "--policy",
                run.folder() + "/run", "--samples", "3", "--refine", "100"});
  INFO(placed.output);
  REQUIRE(placed.code == 0);
  REQUIRE(placed.Says("\npolicy "));
  REQUIRE(placed.Says("\npolicy samples "));
  REQUIRE(placed.Says("\npolicy refined "));
}

}  // namespace shoal::tests
