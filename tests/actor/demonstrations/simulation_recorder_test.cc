// SPDX-License-Identifier: Apache-2.0
#include "actor/demonstrations/simulation_recorder.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "actor/demonstrations/demonstration_recorder.h"
#include "actor/environments/classic/mountain_car.h"
#include "rl/demonstrations/demonstration_file.h"
#include "tests/actor/demonstrations/columns.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::actor {
TEST_CASE("Twenty demonstrations drive the car up the hill, from different starts") {
  const auto recorded = RecordSimulation({.kind = "mountain_car", .episodes = 20, .seed = 7});
  REQUIRE(recorded.ok());
  REQUIRE(recorded->demonstrations_size() == 20);
  REQUIRE(recorded->header().spec().action().discrete().count() == 3);
  float first_start = 0;
  for (const proto::Demonstration& demonstration : recorded->demonstrations()) {
    const proto::Unroll& unroll = demonstration.unroll();
    REQUIRE(unroll.length() <= 130);
    const auto seen = ColumnOf<float>(unroll, "observation/numeric");
    const auto actions = ColumnOf<std::int64_t>(unroll, "action");
    REQUIRE(seen.size() == 2 * (actions.size() + 1));
    // The rows are the ones that the task's physics makes of the actions, up to its end.
    MountainCarState state{.position = seen[0], .velocity = seen[1]};
    for (std::size_t step = 0; step < actions.size(); ++step) {
      REQUIRE(seen[2 * step] == Approx(state.position).margin(1e-5));
      REQUIRE(seen[2 * step + 1] == Approx(state.velocity).margin(1e-5));
      state = AdvanceMountainCar(state, actions[step]);
    }
    REQUIRE(state.position >= 0.5 - 1e-4);
    const auto flags = ColumnOf<std::uint8_t>(unroll, "flags");
    REQUIRE(flags.front() == proto::ROW_FLAG_FIRST);
    REQUIRE(flags[actions.size() - 1] == proto::ROW_FLAG_TERMINATED);
    REQUIRE(ColumnOf<float>(unroll, "reward") == std::vector<float>(actions.size(), -1));
    REQUIRE(seen[0] != first_start);
    first_start = seen[0];
  }
  const auto again = RecordSimulation({.kind = "mountain_car", .episodes = 20, .seed = 7});
  REQUIRE(again->SerializeAsString() == recorded->SerializeAsString());
}

TEST_CASE("A small task is recorded to a file, and one without an expert is refused by name") {
  const doubles::TemporaryFolder folder;
  EnvironmentOptions environment;
  environment.kind = "mountain_car";
  const std::string path = folder.At("expert.demos");
  REQUIRE(RecordToFile(environment, {}, {.of_pair = 3}, path).ok());
  const auto read = demonstrations::ReadDemonstrations(path);
  INFO(read.status());
  REQUIRE(read.ok());
  REQUIRE(read->all.demonstrations_size() == 3);
  REQUIRE(demonstrations::Summarise(*read).find("mountain_car") != std::string::npos);
  environment.kind = "catch";
  const absl::Status refused = RecordToFile(environment, {}, {.of_pair = 3}, path);
  REQUIRE(absl::IsInvalidArgument(refused));
  REQUIRE(runtime::Message(refused) ==
          "environment.kind: catch has no expert; those that have one are redfish, mountain_car");
}

}  // namespace shoal::actor
