// SPDX-License-Identifier: Apache-2.0
#include "text/language/bert_folder.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <span>

#include "platform/runtime/atomic_file.h"
#include "rl/model/safetensors_file.h"
#include "text/language/gpt2_folder.h"

namespace shoal::language {
namespace {

using model::ParameterInfo;
using model::ParameterLayout;
using model::SafetensorsView;
using Start = model::ParameterInfo::Start;

constexpr std::size_t kMaxBertConfigBytes = std::size_t{1} << 20;
constexpr std::string_view kBertPrefix = "bert.";
constexpr std::string_view kWordEmbedding = "embeddings.word_embeddings.weight";
constexpr std::string_view kPositionBuffer = "embeddings.position_ids";
constexpr std::string_view kIgnoredPrefixes[] = {"pooler.", "cls."};
constexpr double kStartDeviation = 0.02;

void AddNormOf(ParameterLayout& layout, const std::string& name, std::int64_t width) {
  layout.Add(name + ".weight", {width}, Start::kOne, 0);
  layout.Add(name + ".bias", {width}, Start::kZero, 0);
}

void AddDense(ParameterLayout& layout, const std::string& name, std::int64_t in, std::int64_t out) {
  layout.Add(name + ".weight", {out, in}, Start::kNormal, kStartDeviation);
  layout.Add(name + ".bias", {out}, Start::kZero, 0);
}

std::string InFolder(const std::string& folder, const char* file) {
  return (std::filesystem::path(folder) / file).string();
}

std::string TensorNamed(std::string_view name) {
  return "tensor '" + std::string(name.substr(0, 100)) + "'";
}

// Returns whether the network does without the tensor.
bool IsIgnored(std::string_view name) {
  if (name.starts_with(kBertPrefix)) name.remove_prefix(kBertPrefix.size());
  return name == kPositionBuffer ||
         std::ranges::any_of(kIgnoredPrefixes, [name](auto p) { return name.starts_with(p); });
}

absl::Status CheckTensors(const SafetensorsView& view, const ParameterLayout& layout,
                          const std::string& prefix) {
  std::set<std::string, std::less<>> known;
  for (const ParameterInfo& info : layout.parameters) {
    const std::string name = prefix + info.name;
    const auto* entry = view.Find(name);
    if (entry == nullptr) return runtime::InvalidArgument(TensorNamed(name) + " is missing");
    if (entry->shape != info.shape) {
      return runtime::InvalidArgument(TensorNamed(name) + " has shape " +
                                      runtime::ToString(entry->shape) + " instead of " +
                                      runtime::ToString(info.shape));
    }
    known.insert(name);
  }
  for (const auto& entry : view.entries()) {
    if (!known.contains(entry.name) && !IsIgnored(entry.name)) {
      return runtime::InvalidArgument(TensorNamed(entry.name) +
                                      " belongs to no BERT of this config");
    }
  }
  return absl::OkStatus();
}

absl::Status ReadTensors(const SafetensorsView& view, const ParameterLayout& layout,
                         std::vector<float>& flat) {
  const std::string prefix(view.Find(kWordEmbedding) == nullptr ? kBertPrefix : "");
  SHOAL_RETURN_IF_ERROR(CheckTensors(view, layout, prefix));
  flat.assign(static_cast<std::size_t>(layout.total), 0.0F);
  for (const ParameterInfo& info : layout.parameters) {
    const auto out = std::span(flat).subspan(static_cast<std::size_t>(info.offset),
                                             static_cast<std::size_t>(info.size));
    SHOAL_RETURN_IF_ERROR(view.ReadFloats(prefix + info.name, info.shape, out));
    if (!std::ranges::all_of(out, [](float x) { return std::isfinite(x); })) {
      return runtime::InvalidArgument(TensorNamed(prefix + info.name) +
                                      " holds what is no finite number");
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string BertLayerPrefix(std::int64_t layer) {
  return "encoder.layer." + std::to_string(layer) + ".";
}

ParameterLayout BertLayout(const BertConfig& config) {
  const std::int64_t width = config.width;
  ParameterLayout layout;
  const auto add_table = [&](std::string_view name, std::int64_t rows) {
    layout.Add(std::string(name), {rows, width}, Start::kNormal, kStartDeviation);
  };
  add_table(kWordEmbedding, config.vocabulary_size);
  add_table("embeddings.position_embeddings.weight", config.positions);
  add_table("embeddings.token_type_embeddings.weight", config.types);
  AddNormOf(layout, "embeddings.LayerNorm", width);
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string layer = BertLayerPrefix(i);
    for (const char* part : {"query", "key", "value"}) {
      AddDense(layout, layer + "attention.self." + part, width, width);
    }
    AddDense(layout, layer + "attention.output.dense", width, width);
    AddNormOf(layout, layer + "attention.output.LayerNorm", width);
    AddDense(layout, layer + "intermediate.dense", width, config.inner);
    AddDense(layout, layer + "output.dense", config.inner, width);
    AddNormOf(layout, layer + "output.LayerNorm", width);
  }
  layout.trainable = layout.total;
  return layout;
}

absl::StatusOr<BertParameters> ReadBertFolder(const std::string& folder) {
  const std::string config_path = InFolder(folder, kConfigFile);
  SHOAL_ASSIGN_OR_RETURN(const std::string text,
                         runtime::ReadFile(config_path, kMaxBertConfigBytes));
  BertParameters parameters;
  SHOAL_ASSIGN_OR_RETURN(parameters.config, BertConfig::Parse(text, config_path));
  SHOAL_ASSIGN_OR_RETURN(const auto file,
                         model::SafetensorsFile::Open(InFolder(folder, kWeightsFile)));
  const absl::Status read =
      ReadTensors(file.view(), BertLayout(parameters.config), parameters.flat);
  if (!read.ok()) return runtime::Annotate(read, file.path());
  return parameters;
}

}  // namespace shoal::language
