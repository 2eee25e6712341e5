// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>

#include "shoal_run.h"

namespace shoal::tests {
namespace {

struct Task {
  std::string file;
  double bar = 0;
};

}  // namespace

TEST_CASE("PPO learns each small task of deploy/local in two minutes", "[tasks]") {
  const Task task = GENERATE(Task{"catch", 1}, Task{"acrobot", -100}, Task{"pendulum", -250},
                             Task{"corridor", 1}, Task{"cartpole-masked", 300});
  ShoalRun run({"train", "deploy/local/" + task.file + ".toml", "--seed", "1"});
  REQUIRE(run.WaitForExit(std::chrono::seconds(240)));
  INFO(run.output());
  REQUIRE(run.exit().code == 0);
  REQUIRE(run.last_line().starts_with("result greedy="));
  REQUIRE(NumberIn(" " + run.last_line().substr(7), "greedy") >= task.bar);
}

}  // namespace shoal::tests
