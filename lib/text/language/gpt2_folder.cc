// SPDX-License-Identifier: Apache-2.0
#include "text/language/gpt2_folder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <regex>
#include <set>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "rl/model/safetensors_file.h"
#include "text/language/gpt2_layout.h"

namespace shoal::language {
namespace {

using model::ParameterInfo;
using model::ParameterLayout;
using model::SafetensorsFile;
using model::SafetensorsItem;
using model::SafetensorsView;
using runtime::DType;

constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;
constexpr std::string_view kTokenEmbedding = "wte.weight";
constexpr std::string_view kOutput = "lm_head.weight";

std::string PathIn(const std::string& folder, const char* file) {
  return (std::filesystem::path(folder) / file).string();
}

std::string Quoted(std::string_view name) {
  return "tensor '" + std::string(name.substr(0, 100)) + "'";
}

// Returns the prefix of the file's names: "transformer.", or "" as in the Hub's oldest files.
std::string PrefixIn(const SafetensorsView& view) {
  return view.Find(kTokenEmbedding) == nullptr ? std::string(kPrefix) : "";
}

// Returns whether the name is a buffer that old versions of transformers stored with the
// parameters.
bool IsBuffer(const std::string& name, std::string_view prefix) {
  static const std::regex buffer("h\\.[0-9]+\\.attn\\.(bias|masked_bias)");
  return name.starts_with(prefix) && std::regex_match(name.substr(prefix.size()), buffer);
}

absl::Status CheckOutput(const SafetensorsView& view, const std::string& embedding) {
  const auto* output = view.Find(kOutput);
  const auto* tied = view.Find(embedding);
  if (output == nullptr) return absl::OkStatus();
  if (output->dtype != tied->dtype || output->shape != tied->shape ||
      !std::equal(output->bytes.begin(), output->bytes.end(), tied->bytes.begin())) {
    return runtime::InvalidArgument(Quoted(kOutput) + " is not the token embedding; only tied " +
                                    "models are supported");
  }
  return absl::OkStatus();
}

// Checks that every parameter is there with its shape, and that no unknown tensor is.
absl::Status CheckNames(const SafetensorsView& view, const ParameterLayout& layout,
                        const std::string& prefix) {
  std::set<std::string, std::less<>> known = {std::string(kOutput)};
  for (const ParameterInfo& info : layout.parameters) {
    const std::string name = prefix + info.name.substr(kPrefix.size());
    const auto* entry = view.Find(name);
    if (entry == nullptr) return runtime::InvalidArgument(Quoted(name) + " is missing");
    if (entry->shape != info.shape) {
      return runtime::InvalidArgument(Quoted(name) + " has shape " +
                                      runtime::ToString(entry->shape) + " instead of " +
                                      runtime::ToString(info.shape));
    }
    known.insert(name);
  }
  for (const auto& entry : view.entries()) {
    if (!known.contains(entry.name) && !IsBuffer(entry.name, prefix)) {
      return runtime::InvalidArgument(Quoted(entry.name) + " belongs to no GPT-2 of this config");
    }
  }
  return CheckOutput(view, prefix + std::string(kTokenEmbedding));
}

absl::Status ReadParameters(const SafetensorsView& view, const ParameterLayout& layout,
                            std::vector<float>& flat) {
  const std::string prefix = PrefixIn(view);
  SHOAL_RETURN_IF_ERROR(CheckNames(view, layout, prefix));
  flat.assign(static_cast<std::size_t>(layout.total), 0.0F);
  for (const ParameterInfo& info : layout.parameters) {
    const auto out = std::span(flat).subspan(static_cast<std::size_t>(info.offset),
                                             static_cast<std::size_t>(info.size));
    const std::string name = prefix + info.name.substr(kPrefix.size());
    SHOAL_RETURN_IF_ERROR(view.ReadFloats(name, info.shape, out));
    if (!std::all_of(out.begin(), out.end(), [](float x) { return std::isfinite(x); })) {
      return runtime::InvalidArgument(Quoted(name) + " holds what is no finite number");
    }
  }
  return absl::OkStatus();
}

std::uint16_t ToBFloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  // Rounds to nearest, ties to even.
  return static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
}

// Returns `values` as `dtype`, which must have two bytes.
std::vector<std::uint16_t> Shortened(std::span<const float> values, DType dtype) {
  std::vector<std::uint16_t> out(values.size());
  std::transform(values.begin(), values.end(), out.begin(),
                 dtype == DType::kBFloat16 ? ToBFloat16 : runtime::ToHalf);
  return out;
}

}  // namespace

absl::StatusOr<Gpt2Parameters> ReadGpt2Folder(const std::string& folder) {
  const std::string config_path = PathIn(folder, kConfigFile);
  SHOAL_ASSIGN_OR_RETURN(const std::string text, runtime::ReadFile(config_path, kMaxConfigBytes));
  Gpt2Parameters parameters;
  SHOAL_ASSIGN_OR_RETURN(parameters.config, Gpt2Config::Parse(text, config_path));
  SHOAL_ASSIGN_OR_RETURN(const SafetensorsFile file,
                         SafetensorsFile::Open(PathIn(folder, kWeightsFile)));
  const absl::Status read =
      ReadParameters(file.view(), Gpt2Layout(parameters.config), parameters.flat);
  if (!read.ok()) return runtime::Annotate(read, file.path());
  return parameters;
}

absl::Status WriteGpt2Folder(const std::string& folder, const Gpt2Config& config,
                             std::span<const float> flat, DType dtype) {
  const ParameterLayout layout = Gpt2Layout(config);
  SHOAL_CHECK(flat.size() == static_cast<std::size_t>(layout.total));
  SHOAL_CHECK(dtype == DType::kFloat32 || runtime::SizeOf(dtype) == 2);
  std::vector<SafetensorsItem> items;
  std::vector<std::vector<std::uint16_t>> shortened;
  shortened.reserve(layout.parameters.size());
  for (const ParameterInfo& info : layout.parameters) {
    const auto values =
        flat.subspan(static_cast<std::size_t>(info.offset), static_cast<std::size_t>(info.size));
    if (dtype == DType::kFloat32) {
      items.push_back({info.name, {dtype, info.shape, std::as_bytes(values)}});
    } else {
      shortened.push_back(Shortened(values, dtype));
      items.push_back({info.name, {dtype, info.shape, std::as_bytes(std::span(shortened.back()))}});
    }
  }
  SHOAL_RETURN_IF_ERROR(
      model::WriteSafetensorsFile(PathIn(folder, kWeightsFile), items, {{"format", "pt"}}));
  return runtime::WriteFileAtomically(PathIn(folder, kConfigFile), config.ToJson());
}

absl::StatusOr<Gpt2Parameters> InitialGpt2(const Gpt2Config& config, std::uint64_t seed) {
  SHOAL_RETURN_IF_ERROR(config.Validate());
  const ParameterLayout layout = Gpt2Layout(config);
  Gpt2Parameters parameters{config, std::vector<float>(static_cast<std::size_t>(layout.total))};
  layout.Initialise(seed, parameters.flat);
  return parameters;
}

}  // namespace shoal::language
