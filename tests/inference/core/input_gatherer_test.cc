// SPDX-License-Identifier: Apache-2.0
#include "inference/core/input_gatherer.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/inference/core/row_maker.h"

namespace shoal::inference {
namespace {

// Two rows of three pixels each.
std::vector<Row> RowsOfPixels() {
  auto layout = std::make_shared<RowLayout>();
  layout->observations = {{"pixels", runtime::DType::kUInt8, {1, 3, 1}, 3, 3}};
  layout->observation_size = 3;
  layout->observation_bytes = 3;
  const auto block = testing::MakeBlock({{.flags = kFirst}, {.environment = 1, .flags = kFirst}});
  block->layout = layout;
  block->observations.clear();
  for (const int pixel : {0, 128, 255, 1, 2, 3}) {
    block->observations.push_back(static_cast<char>(pixel));
  }
  return {{block, 0}, {block, 1}};
}

TEST_CASE("Frames are gathered as the bytes that they are, and other observations as numbers") {
  PolicyShape shape{.action_count = 2, .observation_size = 3};
  const EnvironmentSlot slot;
  for (const bool frames : {true, false}) {
    shape.frames = frames;
    InputGatherer gatherer(shape, 1);
    for (int again = 0; again < 2; ++again) {
      gatherer.Begin(2);
      for (const Row& row : RowsOfPixels()) gatherer.Add(row, slot, 0);
      const model::PolicyInputs& inputs = gatherer.inputs();
      REQUIRE(inputs.rows == 2);
      if (frames) {
        REQUIRE(inputs.frames == std::pmr::vector<std::uint8_t>{0, 128, 255, 1, 2, 3});
        REQUIRE(inputs.observation.empty());
      } else {
        REQUIRE(inputs.observation == std::vector<float>{0, 128, 255, 1, 2, 3});
        REQUIRE(inputs.frames.empty());
      }
    }
  }
}

}  // namespace
}  // namespace shoal::inference
