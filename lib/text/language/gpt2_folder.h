// SPDX-License-Identifier: Apache-2.0
// A GPT-2 on disk in Hugging Face's form: a folder with config.json and model.safetensors.
//
// Folders that transformers or the Hub wrote load here unchanged, and folders written here load in
// transformers. The reader accepts names with and without "transformer."; F32, F16, BF16 and F64;
// the buffers attn.bias and attn.masked_bias, which it ignores; and lm_head.weight where it equals
// the token embedding. Anything else is an error: a tensor that is missing, of another shape, not
// finite, or unknown. Errors name the file and the tensor, key or byte.
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
  // The parameters in the order of Gpt2Layout(config).
  std::vector<float> flat;
};

// Returns NOT_FOUND when a file is missing, INVALID_ARGUMENT or DATA_LOSS for bad contents. It
// allocates memory only once every tensor is there with its shape.
absl::StatusOr<Gpt2Parameters> ReadGpt2Folder(const std::string& folder);

// Writes each file whole or not at all, the weights first. `dtype` is kFloat32, kBFloat16 or
// kFloat16. REQUIRES: `flat` is in the order of Gpt2Layout(config).
absl::Status WriteGpt2Folder(const std::string& folder, const Gpt2Config& config,
                             std::span<const float> flat,
                             runtime::DType dtype = runtime::DType::kFloat32);

// Returns random parameters, a function of (config, seed), or INVALID_ARGUMENT for a bad config.
absl::StatusOr<Gpt2Parameters> InitialGpt2(const Gpt2Config& config, std::uint64_t seed);

}  // namespace shoal::language
