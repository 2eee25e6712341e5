// SPDX-License-Identifier: Apache-2.0
#include "text/language/state_folder.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "platform/runtime/atomic_file.h"
#include "rl/model/safetensors_file.h"
#include "text/language/gpt2_folder.h"

namespace shoal::language {
namespace {

using model::ParameterInfo;
using model::ParameterLayout;
using StateStart = model::ParameterInfo::Start;

constexpr std::size_t kMaxStateConfigBytes = std::size_t{1} << 20;
// The length of the kernels that double the length in the decoder.
constexpr std::int64_t kDecoderKernel = 4;

std::string FileIn(const std::string& folder, const char* file) {
  return (std::filesystem::path(folder) / file).string();
}

std::string StateTensor(std::string_view name) {
  return "tensor '" + std::string(name.substr(0, 100)) + "'";
}

// Adds a weight whose outputs have about the variance of its inputs, and a bias.
void AddWeight(ParameterLayout& layout, const std::string& name, runtime::Shape shape,
               std::int64_t inputs, std::int64_t outputs) {
  layout.Add(name + ".weight", std::move(shape), StateStart::kNormal,
             std::sqrt(1.0 / static_cast<double>(inputs)));
  layout.Add(name + ".bias", {outputs}, StateStart::kZero, 0);
}

void AddPooling(ParameterLayout& layout, const StateConfig& config) {
  layout.Add(kStateMean, {config.width}, StateStart::kZero, 0);
  layout.Add(kStateScale, {config.width}, StateStart::kOne, 0);
  std::int64_t in = config.width;
  for (std::int64_t i = 0; i < config.layers; ++i) {
    AddWeight(layout, "conv." + std::to_string(i), {config.channels, in, config.kernel},
              in * config.kernel, config.channels);
    in = config.channels;
  }
  AddWeight(layout, "latent", {config.latent, 2 * in}, 2 * in, config.latent);
}

void AddDecoder(ParameterLayout& layout, const StateConfig& config) {
  const std::int64_t channels = config.channels;
  // A latent has length 1, so its numbers are small.
  AddWeight(layout, "decoder.in", {2 * channels, config.latent}, 1, 2 * channels);
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::int64_t out = i + 1 == config.layers ? config.width : channels;
    AddWeight(layout, "decoder." + std::to_string(i), {channels, out, kDecoderKernel}, 2 * channels,
              out);
  }
}

absl::Status ReadPooling(const model::SafetensorsView& view, const ParameterLayout& layout,
                         std::vector<float>& flat) {
  for (const auto& entry : view.entries()) {
    if (layout.Find(entry.name) == nullptr) {
      return runtime::InvalidArgument(StateTensor(entry.name) +
                                      " belongs to no state encoder of this config");
    }
  }
  for (const ParameterInfo& info : layout.parameters) {
    const auto* entry = view.Find(info.name);
    if (entry == nullptr) return runtime::InvalidArgument(StateTensor(info.name) + " is missing");
    if (entry->shape != info.shape) {
      return runtime::InvalidArgument(StateTensor(info.name) + " has shape " +
                                      runtime::ToString(entry->shape) + " instead of " +
                                      runtime::ToString(info.shape));
    }
  }
  flat.assign(static_cast<std::size_t>(layout.total), 0.0F);
  for (const ParameterInfo& info : layout.parameters) {
    const auto out = std::span(flat).subspan(static_cast<std::size_t>(info.offset),
                                             static_cast<std::size_t>(info.size));
    SHOAL_RETURN_IF_ERROR(view.ReadFloats(info.name, info.shape, out));
    if (!std::ranges::all_of(out, [](float x) { return std::isfinite(x); })) {
      return runtime::InvalidArgument(StateTensor(info.name) + " holds what is no finite number");
    }
  }
  return absl::OkStatus();
}

}  // namespace

ParameterLayout PoolingLayout(const StateConfig& config) {
  ParameterLayout layout;
  AddPooling(layout, config);
  layout.trainable = layout.total;
  return layout;
}

ParameterLayout StateLayout(const StateConfig& config) {
  ParameterLayout layout;
  AddPooling(layout, config);
  AddDecoder(layout, config);
  layout.trainable = layout.total;
  return layout;
}

absl::StatusOr<StateParameters> ReadStateFolder(const std::string& folder) {
  const std::string config_path = FileIn(folder, kConfigFile);
  SHOAL_ASSIGN_OR_RETURN(const std::string text,
                         runtime::ReadFile(config_path, kMaxStateConfigBytes));
  StateParameters parameters;
  SHOAL_ASSIGN_OR_RETURN(parameters.config, StateConfig::Parse(text, config_path));
  SHOAL_ASSIGN_OR_RETURN(const auto file,
                         model::SafetensorsFile::Open(FileIn(folder, kWeightsFile)));
  const absl::Status read =
      ReadPooling(file.view(), PoolingLayout(parameters.config), parameters.flat);
  if (!read.ok()) return runtime::Annotate(read, file.path());
  return parameters;
}

absl::Status WriteStateFolder(const std::string& folder, const StateConfig& config,
                              std::span<const float> flat) {
  const ParameterLayout layout = PoolingLayout(config);
  SHOAL_CHECK(flat.size() >= static_cast<std::size_t>(layout.total));
  std::vector<std::vector<std::uint16_t>> halves;
  halves.reserve(layout.parameters.size());
  std::vector<model::SafetensorsItem> items;
  for (const ParameterInfo& info : layout.parameters) {
    const auto values =
        flat.subspan(static_cast<std::size_t>(info.offset), static_cast<std::size_t>(info.size));
    std::vector<std::uint16_t>& half = halves.emplace_back(values.size());
    std::ranges::transform(values, half.begin(), runtime::ToHalf);
    items.push_back(
        {info.name, {runtime::DType::kFloat16, info.shape, std::as_bytes(std::span(half))}});
  }
  SHOAL_RETURN_IF_ERROR(
      model::WriteSafetensorsFile(FileIn(folder, kWeightsFile), items, {{"format", "pt"}}));
  return runtime::WriteFileAtomically(FileIn(folder, kConfigFile), config.ToJson());
}

}  // namespace shoal::language
