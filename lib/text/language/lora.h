// SPDX-License-Identifier: Apache-2.0
// Low-rank adapters: what is trained of a larger GPT-2 while its own parameters stay as they are.
//
// y = x W + b + (alpha / rank) x A^T B^T for each adapted layer, A [rank, in] random, B [out, rank]
// zero, so a new adapter changes nothing (Hu et al., "LoRA: Low-Rank Adaptation of Large Language
// Models", 2021). An adapter is an array of its own, and a file of its own: PEFT's names
// ("base_model.model.transformer.h.0.attn.c_attn.lora_A.weight"), with rank, alpha and layers in
// the metadata.
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

  // INVALID_ARGUMENT naming the option: a rank outside 1 to 1024, an unknown or repeated layer.
  absl::Status Validate() const;
  double scale() const { return alpha / static_cast<double>(rank); }
};

// What an adapter is, without a model: `flat` by LoraLayout.
struct LoraParameters {
  LoraOptions options;
  std::vector<float> flat;
};

// Names are the adapted weight's, without ".weight", and ".lora_A" or ".lora_B". REQUIRES: both are
// valid.
model::ParameterLayout LoraLayout(const Gpt2Config& config, const LoraOptions& options);

// A function of (config, options, seed).
absl::StatusOr<LoraParameters> InitialLora(const Gpt2Config& config, const LoraOptions& options,
                                           std::uint64_t seed);

// As ReadGpt2Folder and WriteGpt2Folder, of one file.
absl::StatusOr<LoraParameters> ReadLora(const std::string& path, const Gpt2Config& config);
absl::Status WriteLora(const std::string& path, const Gpt2Config& config,
                       const LoraParameters& adapter);

// Adds the adapter to the weights that it adapts. REQUIRES: both are of the same config.
void MergeLora(const LoraParameters& adapter, Gpt2Parameters& parameters);

}  // namespace shoal::language
