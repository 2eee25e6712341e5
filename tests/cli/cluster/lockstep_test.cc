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
  // Further lines of the table.
  std::string table = "";
};

absl::StatusOr<std::vector<std::string>> SettingsFor(const Knobs& knobs, std::int64_t actors = 1) {
  const std::string text =
      "[actor]\nenvironments = " + std::to_string(knobs.environments) +
      "\n[inference]\nlockstep_environments = " + std::to_string(knobs.lockstep) +
      "\n[learner]\nround_unrolls = " + std::to_string(knobs.round) +
      "\npublish_every_updates = " + std::to_string(knobs.publish) + "\ngradients = \"" +
      knobs.gradients + "\"\n[[replay.table]]\nsampler = \"" + knobs.sampler + "\"\n" + knobs.table;
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

TEST_CASE("a version follows the updates that a round earns, and the first round fills the table") {
  const auto settings = [](int environments, int round, double ratio, int min_size) {
    return SettingsFor(
               {.environments = environments,
                .lockstep = environments,
                .round = round,
                .publish = 4,
                .sampler = "uniform",
                .table = "max_times_sampled = 0\nsamples_per_insert = " + std::to_string(ratio) +
                         "\nmin_size = " + std::to_string(min_size) + "\n"})
        .value();
  };
  const auto expected = [](int unrolls, int fill, int updates) {
    return std::vector<std::string>{"inference.lockstep_unrolls=" + std::to_string(unrolls),
                                    "inference.lockstep_fill_unrolls=" + std::to_string(fill),
                                    "learner.publish_every_updates=" + std::to_string(updates)};
  };
  REQUIRE(settings(32, 16, 8, 128) == expected(1, 4, 16));
  REQUIRE(settings(8, 16, 128, 1) == expected(1, 1, 64));
  // 24 samples make an update and a half, those of two unrolls three.
  REQUIRE(settings(3, 16, 8, 100) == expected(2, 34, 3));
  REQUIRE(settings(4, 16, 0.5, 9) == expected(8, 8, 1));
}

TEST_CASE("a table that is sampled is refused by its knob where lock step could not keep order") {
  const auto refusal = [](const std::string& table, int round = 16) {
    return RefusalOf({.round = round, .sampler = "uniform", .table = table});
  };
  const std::string sound = "max_times_sampled = 0\nsamples_per_insert = 8.0\n";
  REQUIRE(
      refusal("samples_per_insert = 8.0\nmax_times_sampled = 8\n").find("max_times_sampled = 0") !=
      std::string::npos);
  REQUIRE(refusal(sound + "max_staleness = 3\n").find("max_staleness") != std::string::npos);
  REQUIRE(refusal(sound + "max_age_seconds = 1.5\n").find("max_age_seconds") != std::string::npos);
  REQUIRE(refusal("max_times_sampled = 0\n").find("samples_per_insert above 0") !=
          std::string::npos);
  REQUIRE(refusal("max_times_sampled = 0\nsamples_per_insert = 0.3\n", 7919)
              .find("learner.round_unrolls") != std::string::npos);
}

TEST_CASE("what does not wait for its ranks is left to the learner's refusal") {
  REQUIRE(SettingsFor({.round = 33, .gradients = "asynchronous"}).value().empty());
}

TEST_CASE("lock step refuses updates that publish nothing") {
  REQUIRE(RefusalOf({.publish = 4}).find("learner.publish_every_updates = 1") != std::string::npos);
}

}  // namespace shoal::cli
