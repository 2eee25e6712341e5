// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/lockstep.h"

#include <catch2/catch.hpp>
#include <string>
#include <tuple>
#include <vector>

namespace shoal::cli {
namespace {

struct Knobs {
  int environments = 32;
  int lockstep = 32;
  int round = 32;
  int publish = 1;
  std::string gradients = "synchronous";
  std::string sampler = "fifo";
};

absl::StatusOr<std::vector<std::string>> SettingsFor(const Knobs& knobs, std::int64_t actors = 1) {
  const std::string text =
      "[actor]\nenvironments = " + std::to_string(knobs.environments) +
      "\n[inference]\nlockstep_environments = " + std::to_string(knobs.lockstep) +
      "\n[learner]\nround_unrolls = " + std::to_string(knobs.round) +
      "\npublish_every_updates = " + std::to_string(knobs.publish) + "\ngradients = \"" +
      knobs.gradients + "\"\n[[replay.table]]\nsampler = \"" + knobs.sampler + "\"\n";
  return LockstepSettings(EffectiveConfig::Gather(text, {}, {}).value(), actors);
}

std::string RefusalOf(const Knobs& knobs, std::int64_t actors = 1) {
  const absl::Status refused = SettingsFor(knobs, actors).status();
  REQUIRE(absl::IsInvalidArgument(refused));
  return runtime::Message(refused);
}

}  // namespace

TEST_CASE("inference waits for as many unrolls of each environment as make the learner's round") {
  REQUIRE(SettingsFor({}).value() == std::vector<std::string>{"inference.lockstep_unrolls=1"});
  REQUIRE(SettingsFor({.round = 64}).value() ==
          std::vector<std::string>{"inference.lockstep_unrolls=2"});
  REQUIRE(SettingsFor({.environments = 8, .lockstep = 16, .round = 48}, 2).value() ==
          std::vector<std::string>{"inference.lockstep_unrolls=3"});
}

TEST_CASE("a round that lock step cannot deliver is refused by the names of both knobs") {
  for (const int round : {16, 33, 100}) {
    const std::string refusal = RefusalOf({.round = round});
    INFO(refusal);
    REQUIRE(refusal.find("learner.round_unrolls") != std::string::npos);
    REQUIRE(refusal.find("inference.lockstep_environments") != std::string::npos);
    REQUIRE(refusal.ends_with(std::to_string(round) + " and 32"));
  }
}

TEST_CASE("lock step of other environments than the actors play is refused by both names") {
  for (const auto& [environments, lockstep, actors] :
       {std::tuple(16, 32, 1), std::tuple(64, 32, 1), std::tuple(32, 32, 2),
        std::tuple(32, 0, 1)}) {
    const std::string refusal =
        RefusalOf({.environments = environments, .lockstep = lockstep}, actors);
    INFO(refusal);
    REQUIRE(refusal.find("actor.environments") != std::string::npos);
    REQUIRE(refusal.find("inference.lockstep_environments") != std::string::npos);
  }
}

TEST_CASE("what has no queue, or does not wait for its ranks, is left to the learner's refusal") {
  REQUIRE(SettingsFor({.round = 33, .sampler = "uniform"}).value().empty());
  REQUIRE(SettingsFor({.round = 33, .gradients = "asynchronous"}).value().empty());
}

TEST_CASE("lock step refuses updates that publish nothing") {
  REQUIRE(RefusalOf({.publish = 4}).find("learner.publish_every_updates = 1") != std::string::npos);
}

}  // namespace shoal::cli
