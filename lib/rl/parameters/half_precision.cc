// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/half_precision.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

#include "rl/model/safetensors.h"

namespace shoal::parameters {
namespace {

constexpr float kLargestHalf = 65504.0F;

std::vector<float> ValuesOf(const model::SafetensorsView::Entry& entry) {
  std::vector<float> values(entry.bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), entry.bytes.data(), entry.bytes.size());
  return values;
}

// Not a number compares as false.
bool Fits(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(),
                     [](float value) { return std::abs(value) <= kLargestHalf; });
}

}  // namespace

absl::StatusOr<std::string> RoundToHalf(std::string_view file) {
  SHOAL_ASSIGN_OR_RETURN(const auto view, model::SafetensorsView::Parse(file));
  std::vector<model::SafetensorsItem> items;
  // The items view its elements, which stay where they are.
  std::deque<std::vector<std::uint16_t>> rounded;
  for (const auto& entry : view.entries()) {
    items.push_back({entry.name, {entry.dtype, entry.shape, entry.bytes}});
    if (entry.dtype != runtime::DType::kFloat32 || entry.shape.size() < 2) continue;
    const std::vector<float> values = ValuesOf(entry);
    if (!Fits(values)) continue;
    std::vector<std::uint16_t>& halves = rounded.emplace_back(values.size());
    const auto bytes = std::as_writable_bytes(std::span(halves));
    runtime::FromFloats(values, runtime::DType::kFloat16, bytes);
    items.back().tensor = {runtime::DType::kFloat16, entry.shape, bytes};
  }
  return model::WriteSafetensors(items, view.metadata());
}

}  // namespace shoal::parameters
