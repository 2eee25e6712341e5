// SPDX-License-Identifier: Apache-2.0
#include "text/language/lora.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "rl/model/safetensors_file.h"
#include "text/language/gpt2_layout.h"

namespace shoal::language {
namespace {

using model::ParameterInfo;
using model::ParameterLayout;
using Start = ParameterInfo::Start;

constexpr std::int64_t kMaxRank = 1024;
constexpr std::string_view kPeftPrefix = "base_model.model.";
constexpr std::string_view kLayers[] = {"attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"};

struct Projection {
  std::int64_t in;
  std::int64_t out;
};

// REQUIRES: `layer` is one of kLayers.
Projection ProjectionOf(const Gpt2Config& config, const std::string& layer) {
  if (layer == kLayers[0]) return {config.width, 3 * config.width};
  if (layer == kLayers[1]) return {config.width, config.width};
  if (layer == kLayers[2]) return {config.width, 4 * config.width};
  return {4 * config.width, config.width};
}

std::string FileName(const ParameterInfo& info) {
  return std::string(kPeftPrefix) + info.name + ".weight";
}

template <typename T>
bool ParseNumber(const std::string& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', begin);
    parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
  }
  return parts;
}

absl::StatusOr<LoraOptions> OptionsOf(const model::Metadata& metadata) {
  for (const char* key : {"rank", "alpha", "layers"}) {
    if (!metadata.contains(key)) {
      return runtime::InvalidArgument(std::string("metadata '") + key + "' is missing");
    }
  }
  LoraOptions options;
  if (!ParseNumber(metadata.at("rank"), options.rank)) {
    return runtime::InvalidArgument("metadata 'rank' is no number");
  }
  if (!ParseNumber(metadata.at("alpha"), options.alpha)) {
    return runtime::InvalidArgument("metadata 'alpha' is no number");
  }
  options.layers = Split(metadata.at("layers"));
  SHOAL_RETURN_IF_ERROR(options.Validate());
  return options;
}

absl::StatusOr<LoraParameters> FromView(const model::SafetensorsView& view,
                                        const Gpt2Config& config) {
  LoraParameters adapter;
  SHOAL_ASSIGN_OR_RETURN(adapter.options, OptionsOf(view.metadata()));
  const ParameterLayout layout = LoraLayout(config, adapter.options);
  for (const ParameterInfo& info : layout.parameters) {
    const auto* entry = view.Find(FileName(info));
    if (entry == nullptr || entry->shape != info.shape) {
      return runtime::InvalidArgument("tensor '" + FileName(info) + "' is missing or not " +
                                      runtime::ToString(info.shape));
    }
  }
  if (view.entries().size() != layout.parameters.size()) {
    return runtime::InvalidArgument(std::to_string(view.entries().size()) + " tensors instead of " +
                                    std::to_string(layout.parameters.size()));
  }
  adapter.flat.assign(static_cast<std::size_t>(layout.total), 0.0F);
  for (const ParameterInfo& info : layout.parameters) {
    const auto out =
        std::span(adapter.flat)
            .subspan(static_cast<std::size_t>(info.offset), static_cast<std::size_t>(info.size));
    SHOAL_RETURN_IF_ERROR(view.ReadFloats(FileName(info), info.shape, out));
    if (!std::all_of(out.begin(), out.end(), [](float x) { return std::isfinite(x); })) {
      return runtime::InvalidArgument("tensor '" + FileName(info) +
                                      "' holds what is no finite number");
    }
  }
  return adapter;
}

// weight [in, out] += scale A^T B^T, with A [rank, in] and B [out, rank].
void Merge(std::span<const float> a, std::span<const float> b, Projection size, std::int64_t rank,
           double scale, std::span<float> weight) {
  for (std::int64_t i = 0; i < size.in; ++i) {
    for (std::int64_t o = 0; o < size.out; ++o) {
      double sum = 0;
      for (std::int64_t r = 0; r < rank; ++r) {
        sum += static_cast<double>(a[static_cast<std::size_t>(r * size.in + i)]) *
               b[static_cast<std::size_t>(o * rank + r)];
      }
      float& to = weight[static_cast<std::size_t>(i * size.out + o)];
      to = static_cast<float>(to + scale * sum);
    }
  }
}

}  // namespace

absl::Status LoraOptions::Validate() const {
  if (rank < 1 || rank > kMaxRank) {
    return runtime::InvalidArgument("LoRA rank " + std::to_string(rank) + " is not within 1 and " +
                                    std::to_string(kMaxRank));
  }
  if (!std::isfinite(alpha)) return runtime::InvalidArgument("LoRA alpha is not finite");
  std::set<std::string> seen;
  for (const std::string& layer : layers) {
    const bool known =
        std::find(std::begin(kLayers), std::end(kLayers), layer) != std::end(kLayers);
    if (!known || !seen.insert(layer).second) {
      return runtime::InvalidArgument("LoRA layer '" + layer + "' is unknown or stands twice");
    }
  }
  if (layers.empty()) return runtime::InvalidArgument("LoRA layers are none");
  return absl::OkStatus();
}

ParameterLayout LoraLayout(const Gpt2Config& config, const LoraOptions& options) {
  ParameterLayout layout;
  for (std::int64_t block = 0; block < config.layers; ++block) {
    for (const std::string& layer : options.layers) {
      const Projection size = ProjectionOf(config, layer);
      const std::string name = BlockPrefix(block) + layer;
      layout.Add(name + ".lora_A", {options.rank, size.in}, Start::kNormal,
                 1 / std::sqrt(static_cast<double>(size.in)));
      layout.Add(name + ".lora_B", {size.out, options.rank}, Start::kZero, 0);
    }
  }
  layout.trainable = layout.total;
  return layout;
}

absl::StatusOr<LoraParameters> InitialLora(const Gpt2Config& config, const LoraOptions& options,
                                           std::uint64_t seed) {
  SHOAL_RETURN_IF_ERROR(config.Validate());
  SHOAL_RETURN_IF_ERROR(options.Validate());
  const ParameterLayout layout = LoraLayout(config, options);
  LoraParameters adapter{options, std::vector<float>(static_cast<std::size_t>(layout.total))};
  layout.Initialise(seed, adapter.flat);
  return adapter;
}

absl::StatusOr<LoraParameters> ReadLora(const std::string& path, const Gpt2Config& config) {
  SHOAL_ASSIGN_OR_RETURN(const model::SafetensorsFile file, model::SafetensorsFile::Open(path));
  auto adapter = FromView(file.view(), config);
  if (!adapter.ok()) return runtime::Annotate(adapter.status(), path);
  return adapter;
}

absl::Status WriteLora(const std::string& path, const Gpt2Config& config,
                       const LoraParameters& adapter) {
  const ParameterLayout layout = LoraLayout(config, adapter.options);
  SHOAL_CHECK(adapter.flat.size() == static_cast<std::size_t>(layout.total));
  std::vector<model::SafetensorsItem> items;
  for (const ParameterInfo& info : layout.parameters) {
    const auto values =
        std::span(adapter.flat)
            .subspan(static_cast<std::size_t>(info.offset), static_cast<std::size_t>(info.size));
    items.push_back(
        {FileName(info), {runtime::DType::kFloat32, info.shape, std::as_bytes(values)}});
  }
  std::string layers;
  for (const std::string& layer : adapter.options.layers) {
    layers += (layers.empty() ? "" : ",") + layer;
  }
  char alpha[32];
  const auto end = std::to_chars(std::begin(alpha), std::end(alpha), adapter.options.alpha).ptr;
  return model::WriteSafetensorsFile(path, items,
                                     {{"format", "pt"},
                                      {"rank", std::to_string(adapter.options.rank)},
                                      {"alpha", std::string(alpha, end)},
                                      {"layers", layers}});
}

void MergeLora(const LoraParameters& adapter, Gpt2Parameters& parameters) {
  const ParameterLayout to = Gpt2Layout(parameters.config);
  const ParameterLayout from = LoraLayout(parameters.config, adapter.options);
  const auto part = [](auto& flat, const ParameterInfo& info) {
    return std::span(flat).subspan(static_cast<std::size_t>(info.offset),
                                   static_cast<std::size_t>(info.size));
  };
  for (std::int64_t block = 0; block < parameters.config.layers; ++block) {
    for (const std::string& layer : adapter.options.layers) {
      const std::string name = BlockPrefix(block) + layer;
      Merge(part(adapter.flat, *from.Find(name + ".lora_A")),
            part(adapter.flat, *from.Find(name + ".lora_B")),
            ProjectionOf(parameters.config, layer), adapter.options.rank, adapter.options.scale(),
            part(parameters.flat, *to.Find(name + ".weight")));
    }
  }
}

}  // namespace shoal::language
