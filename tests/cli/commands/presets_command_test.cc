// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/presets_command.h"

#include <catch2/catch.hpp>
#include <string>

#include "placement/distribution_search.h"
#include "platform/runtime/atomic_file.h"

namespace shoal::cli {
namespace {

TEST_CASE("a preset of training is printed though a search has settings of its name") {
  for (const std::string name : {"ppo", "cem", "reinforce"}) {
    REQUIRE_FALSE(placement::DefaultSettings(name).empty());
    REQUIRE(DescribePresets(name, "data").value() ==
            runtime::ReadFile("data/presets/" + name + ".toml").value());
  }
}

TEST_CASE("a preset of a search is printed as its settings") {
  for (const std::string name : {"post", "placement-cem", "placement-ppo", "placement-reinforce"}) {
    const std::string text = DescribePresets(name, "data").value();
    REQUIRE(text == placement::DefaultSettings(name));
    REQUIRE(text.find("[placement.search.") == 0);
  }
}

TEST_CASE("what is neither is refused by its name, also settings of the refinement") {
  for (const std::string name : {"refine", "no_such"}) {
    const absl::Status refused = DescribePresets(name, "data").status();
    REQUIRE_FALSE(refused.ok());
    REQUIRE(refused.message().find(name) != std::string::npos);
  }
}

}  // namespace
}  // namespace shoal::cli
