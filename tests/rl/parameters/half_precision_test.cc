// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/half_precision.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tests/rl/parameters/weights.h"

namespace shoal::parameters {
namespace {

using runtime::DType;

std::vector<float> FloatsOf(const std::string& file, const std::string& name,
                            const runtime::Shape& shape) {
  const auto view = *model::SafetensorsView::Parse(file);
  std::vector<float> values(static_cast<std::size_t>(*runtime::CountElements(shape)));
  REQUIRE(view.ReadFloats(name, shape, values).ok());
  return values;
}

DType DTypeIn(const std::string& file, const std::string& name) {
  return model::SafetensorsView::Parse(file)->Find(name)->dtype;
}

TEST_CASE("rounded weights are within 2^-11 of the weight, or 2^-25 where it is tiny") {
  std::vector<float> weights;
  for (float magnitude = 0x1p-30F; magnitude <= 32768.0F; magnitude *= 1.37F) {
    weights.push_back(magnitude);
    weights.push_back(-magnitude);
  }
  const auto count = static_cast<std::int64_t>(weights.size());
  const std::string file = FileOf({Item("w", {1, count}, weights)});
  const auto rounded = RoundToHalf(file);
  REQUIRE(rounded.ok());
  REQUIRE(DTypeIn(*rounded, "w") == DType::kFloat16);
  const std::vector<float> read = FloatsOf(*rounded, "w", {1, count});
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const float tolerance = std::max(0x1p-11F * std::abs(weights[i]), 0x1p-25F);
    REQUIRE(std::abs(read[i] - weights[i]) <= tolerance);
  }
}

TEST_CASE("a policy's file has half the bytes after rounding, and the same metadata") {
  const std::string file = WeightsFile({.environment_steps = "77"});
  const std::string rounded = *RoundToHalf(file);
  REQUIRE(static_cast<double>(rounded.size()) < 0.52 * static_cast<double>(file.size()));
  const auto view = *model::SafetensorsView::Parse(rounded);
  REQUIRE(view.metadata() == model::SafetensorsView::Parse(file)->metadata());
  REQUIRE(*RoundToHalf(rounded) == rounded);
}

TEST_CASE("a tensor with a value that half precision has not stays as it is") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float value : {65505.0F, -65536.0F, kInfinity, -kInfinity, std::nanf("")}) {
    const std::vector<float> weights = {0.1F, value};
    const std::vector<float> others = {0.1F, 65504.0F};
    const std::string file = FileOf({Item("large", {1, 2}, weights), Item("w", {2, 1}, others)});
    const std::string rounded = *RoundToHalf(file);
    const auto view = *model::SafetensorsView::Parse(rounded);
    const auto& kept = *view.Find("large");
    REQUIRE(kept.dtype == DType::kFloat32);
    REQUIRE(std::memcmp(kept.bytes.data(), weights.data(), kept.bytes.size()) == 0);
    REQUIRE(view.Find("w")->dtype == DType::kFloat16);
  }
}

TEST_CASE("vectors, integers and empty tensors are not rounded away") {
  const std::vector<float> bias = {0.1F, 0.2F};
  const std::vector<std::int64_t> counts = {1, 2};
  const std::vector<float> none;
  const std::string file =
      FileOf({Item("bias", {2}, bias), Item("counts", {1, 2}, counts), Item("none", {0, 5}, none)});
  const std::string rounded = *RoundToHalf(file);
  REQUIRE(FloatsOf(rounded, "bias", {2}) == bias);
  REQUIRE(DTypeIn(rounded, "counts") == DType::kInt64);
  REQUIRE(FloatsOf(rounded, "none", {0, 5}).empty());
}

TEST_CASE("only a weight file can be rounded") {
  REQUIRE(absl::IsDataLoss(RoundToHalf("short").status()));
  REQUIRE_FALSE(RoundToHalf(std::string(100, 'x')).ok());
}

}  // namespace
}  // namespace shoal::parameters
