// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "platform/runtime/program.h"
#include "shoal_run.h"

namespace shoal::tests {

using std::chrono::seconds;

TEST_CASE("a policy that copied experts reaches five goals before any reinforcement",
          "[imitation]") {
  ShoalRun record({"demonstrations", "record", "--config", "deploy/local/imitation.toml",
                   "--captures", "dmtf-rackmount1", "--goals", "1,2,3,4,5", "--episodes", "60",
                   "--seed", "3", "--out", "/dev/null/no"});
  REQUIRE(record.WaitForExit(seconds(120)));
  REQUIRE(record.exit().code != 0);
  REQUIRE(record.output().find("cannot make folder /dev/null") != std::string::npos);

  const std::string file = record.folder() + "/expert.demos";
  ShoalRun again({"demonstrations", "record", "--config", "deploy/local/imitation.toml",
                  "--captures", "dmtf-rackmount1", "--goals", "1,2,3,4,5", "--episodes", "60",
                  "--seed", "3", "--out", file});
  REQUIRE(again.WaitForExit(seconds(120)));
  INFO(again.output());
  REQUIRE(again.exit().code == 0);
  REQUIRE(again.output().find("300 demonstrations of 5 goals and captures") != std::string::npos);

  // The run ends after one update; the result is that of the policy before the update.
  ShoalRun run({"train", "deploy/local/imitation.toml", "--capture", "dmtf-rackmount1", "--goals",
                "1,2,3,4,5", "--episodes", "20", "--set", "learner.demonstrations=\"" + file + "\"",
                "--set", "learner.updates=1", "--set", "train.baselines=[\"initial\"]", "--set",
                "train.evaluate_every_seconds=0", "--set", "learner.demonstration_updates=300"});
  REQUIRE(run.WaitForExit(seconds(400)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  const auto result = nlohmann::json::parse(run.File("result.json"), nullptr, false);
  INFO(result.dump(1));
  REQUIRE(result.is_object());
  REQUIRE(result.at("totals").at("initial").at("success").get<double>() >= 0.9);
  REQUIRE(run.Last("learner.jsonl", "update") == 1);
  REQUIRE(run.File("logs/learner-0.log").find("event=cloned cloning=300") != std::string::npos);
}

TEST_CASE("a run whose time ends while its learner clones says so and what to do", "[imitation]") {
  ShoalRun run({"train", "deploy/local/imitation.toml", "--capture", "openbmc-stock", "--goals",
                "1", "--minutes", "0.4", "--set", "learner.demonstrations=\"\"", "--set",
                "train.demonstration_episodes=20", "--set",
                "learner.demonstration_updates=1000000"});
  REQUIRE(run.WaitForExit(seconds(120)));
  INFO(run.output());
  REQUIRE(run.exit().code == runtime::kExitFailed);
  REQUIRE(run.output().find("before the learner had published a policy") != std::string::npos);
  REQUIRE(run.output().find("learner.demonstration_updates") != std::string::npos);
  REQUIRE(run.output().find("the evaluation took too long") == std::string::npos);
}

TEST_CASE("a learner that is given a damaged file of demonstrations says where, and ends",
          "[imitation]") {
  ShoalRun run({"train", "deploy/local/imitation.toml", "--capture", "openbmc-stock", "--set",
                "learner.demonstrations=\"data/encoder/lexical.idf\""});
  REQUIRE(run.WaitForExit(seconds(120)));
  INFO(run.output());
  REQUIRE(run.exit().code != 0);
  REQUIRE(run.File("logs/learner-0.log").find("offset 0: this is no file of demonstrations") !=
          std::string::npos);
}

}  // namespace shoal::tests
