// SPDX-License-Identifier: Apache-2.0
#include <toml++/toml.h>

#include <catch2/catch.hpp>
#include <string>

namespace shoal::cli {
namespace {

toml::table Read(const std::string& path) {
  toml::parse_result parsed = toml::parse_file(path);
  INFO(path);
  REQUIRE(static_cast<bool>(parsed));
  return std::move(parsed).table();
}

}  // namespace

TEST_CASE("containers learn the same job in the same way as local processes") {
  const toml::table local = Read("deploy/local/redfish.toml");
  const toml::table compose = Read("deploy/compose/cluster.toml");
  for (const char* section : {"environment", "policy", "algorithm"}) {
    INFO(section);
    REQUIRE(local[section].is_table());
    REQUIRE(*local[section].as_table() == *compose[section].as_table());
  }
  for (const char* knob :
       {"learner.round_unrolls", "learner.max_lag", "inference.unroll_length", "train.minutes",
        "train.stop_score", "train.stop_pair_success", "train.final_episodes"}) {
    INFO(knob);
    REQUIRE(local.at_path(knob).value<double>() == compose.at_path(knob).value<double>());
  }
}

}  // namespace shoal::cli
