// SPDX-License-Identifier: Apache-2.0
// A GPT-2 on disk as Hugging Face keeps it: a folder with config.json and model.safetensors.
//
// What transformers or the Hub wrote loads unchanged, and what is written here loads in
// transformers. Read: names with and without "transformer."; F32, F16, BF16 and F64; the buffers
// attn.bias and attn.masked_bias are passed over, lm_head.weight where it equals the token
// embedding. All else is an error: a tensor that is missing, of another shape, not finite, or
// unknown. Errors name the file and the tensor, key or byte.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "text/language/gpt2_config.h"

namespace shoal::language {

inline constexpr char kConfigFile[] = "config.json";
inline constexpr char kWeightsFile[] = "model.safetensors";

struct Gpt2Parameters {
  Gpt2Config config;
  // By Gpt2Layout(config).
  std::vector<float> flat;
};

// NOT_FOUND where a file is missing; INVALID_ARGUMENT and DATA_LOSS for what is in them. Memory is
// taken only once every tensor is there with its shape.
absl::StatusOr<Gpt2Parameters> ReadGpt2Folder(const std::string& folder);

// Each file whole or not at all, the weights first. `dtype`: kFloat32, kBFloat16 or kFloat16.
// REQUIRES: `flat` is by Gpt2Layout(config).
absl::Status WriteGpt2Folder(const std::string& folder, const Gpt2Config& config,
                             std::span<const float> flat,
                             runtime::DType dtype = runtime::DType::kFloat32);

// Random parameters, a function of (config, seed). INVALID_ARGUMENT for a bad config.
absl::StatusOr<Gpt2Parameters> InitialGpt2(const Gpt2Config& config, std::uint64_t seed);

}  // namespace shoal::language
