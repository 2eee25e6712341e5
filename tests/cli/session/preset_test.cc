// SPDX-License-Identifier: Apache-2.0
#include "cli/session/preset.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/doubles/temporary_folder.h"

namespace shoal::cli {
namespace {

TEST_CASE("A preset's settings come in the order of its file, lists of tables by their index") {
  const doubles::TemporaryFolder data;
  data.Write("presets/example.toml",
             "# An example.\n[policy]\nhidden = [64, 32]\naction_values = true\n"
             "[algorithm]\nname = \"dqn\"\n[[replay.table]]\nname = \"unrolls\"\n"
             "samples_per_insert = 8.0\n");
  const Preset preset = LoadPreset("example", data.path()).value();
  REQUIRE(preset.summary == "An example.");
  REQUIRE(preset.settings ==
          std::vector<std::string>{"policy.hidden=[ 64, 32 ]", "policy.action_values=true",
                                   "algorithm.name='dqn'", "replay.table.0.name='unrolls'",
                                   "replay.table.0.samples_per_insert=8.0"});
  REQUIRE(LoadPreset(data.At("presets/example.toml"), "nowhere").value().name == "example");
}

TEST_CASE("An unknown preset names the known ones, and a broken file its line") {
  const doubles::TemporaryFolder data;
  data.Write("presets/fine.toml", "");
  const auto unknown = LoadPreset("other", data.path());
  REQUIRE(absl::IsNotFound(unknown.status()));
  REQUIRE(unknown.status().message().find("fine") != std::string::npos);
  REQUIRE(
      runtime::Message(LoadPreset("placement-ppo", data.path()).status()) ==
      "the preset \"placement-ppo\" is one of `shoal place`, not of a training; those are fine");
  REQUIRE(absl::IsNotFound(LoadPreset("fine", data.At("nowhere")).status()));
  const std::string broken = data.Write("broken.toml", "[policy]\nhidden = \n");
  const auto refused = LoadPreset(broken, data.path());
  REQUIRE(absl::IsInvalidArgument(refused.status()));
  REQUIRE(refused.status().message().find("line 2") != std::string::npos);
}

}  // namespace
}  // namespace shoal::cli
