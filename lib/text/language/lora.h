// SPDX-License-Identifier: Apache-2.0
// Low-rank adapters (LoRA): small matrices that are trained for a larger GPT-2 whose own parameters
// stay fixed.
//
// For each adapted layer, y = x W + b + (alpha / rank) x A^T B^T, with A [rank, in] random and B
// [out, rank] zero, so a new adapter changes nothing (Hu et al., "LoRA: Low-Rank Adaptation of
// Large Language Models", 2021). An adapter has its own array and its own file, with PEFT's names
// ("base_model.model.transformer.h.0.attn.c_attn.lora_A.weight") and rank, alpha and layers in the
// metadata.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/model/parameter_layout.h"
#include "text/language/gpt2_config.h"
#include "text/language/gpt2_folder.h"

namespace shoal::language {

struct LoraOptions {
  std::int64_t rank = 8;
  double alpha = 16;
  // The layers of every block that get an adapter: any of "attn.c_attn", "attn.c_proj", "mlp.c_fc",
  // "mlp.c_proj".
  std::vector<std::string> layers = {"attn.c_attn", "attn.c_proj"};

  // Returns INVALID_ARGUMENT naming the option: a rank outside 1 to 1024, an unknown or repeated
  // layer.
  absl::Status Validate() const;
  double scale() const { return alpha / static_cast<double>(rank); }
};

// An adapter without its model; `flat` is in the order of LoraLayout.
struct LoraParameters {
  LoraOptions options;
  std::vector<float> flat;
};

// Returns the layout. A name is that of the adapted weight, without ".weight", plus ".lora_A" or
// ".lora_B". REQUIRES: both are valid.
model::ParameterLayout LoraLayout(const Gpt2Config& config, const LoraOptions& options);

// Returns a new adapter, a function of (config, options, seed).
absl::StatusOr<LoraParameters> InitialLora(const Gpt2Config& config, const LoraOptions& options,
                                           std::uint64_t seed);

// Read and write one file, with the rules of ReadGpt2Folder and WriteGpt2Folder.
absl::StatusOr<LoraParameters> ReadLora(const std::string& path, const Gpt2Config& config);
absl::Status WriteLora(const std::string& path, const Gpt2Config& config,
                       const LoraParameters& adapter);

// Adds the adapter to the weights that it adapts. REQUIRES: both have the same config.
void MergeLora(const LoraParameters& adapter, Gpt2Parameters& parameters);

}  // namespace shoal::language
