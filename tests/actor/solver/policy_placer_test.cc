// SPDX-License-Identifier: Apache-2.0
#include "actor/solver/policy_placer.h"

#include <catch2/catch.hpp>
#include <string>

#include "placement/gradual_placement.h"
#include "placement/graph_file.h"
#include "tests/inference/client/scripted_server.h"

namespace shoal::actor {
namespace {

using test::Scripted;
using test::ScriptedServer;
using test::SeenRow;

struct Network {
  placement::Graph graph = placement::LoadGraph("data/placement/graphs/rnnlm.json").value();
  placement::DeviceSet devices = placement::LoadDevices("data/placement/devices/k80.toml").value();
};

PolicyPlacerOptions PlacerOptionsFor(const std::string& address) {
  PolicyPlacerOptions options = {.inference = address};
  options.environment.kind = "placement";
  return options;
}

absl::Status Unchecked() { return absl::OkStatus(); }

}  // namespace

TEST_CASE("A policy's choices become the placement, first the greedy one and then the drawn ones") {
  const Network task;
  ScriptedServer server([](const SeenRow& row) {
    Scripted answer = test::Agree(row);
    answer.action = row.mode == proto::ROW_MODE_EVALUATE ? 0 : 1;
    return answer;
  });
  PolicyPlacerOptions options = PlacerOptionsFor(server.address());
  options.samples = 2;
  const auto placements = PlaceByPolicy(task.graph, task.devices, options, Unchecked).value();
  REQUIRE(placements.size() == 3);
  REQUIRE(placements[0] == placement::PlaceByFirstChoices(task.graph, task.devices).value());
  REQUIRE(placements[1] == placements[2]);
  REQUIRE(placements[1] != placements[0]);
}

TEST_CASE("A policy that was trained on something else places nothing") {
  const Network task;
  PolicyPlacerOptions options = PlacerOptionsFor("127.0.0.1:1");
  options.environment.kind = "cartpole";
  const auto refused = PlaceByPolicy(task.graph, task.devices, options, Unchecked);
  REQUIRE(absl::IsInvalidArgument(refused.status()));
  REQUIRE(std::string(refused.status().message()).find("cartpole") != std::string::npos);
}

TEST_CASE("Placing by a policy ends when its check fails") {
  const Network task;
  const auto ended = PlaceByPolicy(task.graph, task.devices, PlacerOptionsFor("127.0.0.1:1"),
                                   [] { return runtime::Unavailable("the server has ended"); });
  REQUIRE(absl::IsUnavailable(ended.status()));
}

}  // namespace shoal::actor
