// SPDX-License-Identifier: Apache-2.0
// A BERT on disk in Hugging Face's form: a folder with config.json and model.safetensors.
//
// The reader accepts names with and without "bert."; F32, F16, BF16 and F64; and ignores the pooler
// (pooler.*), heads of other tasks (cls.*) and the buffer embeddings.position_ids. Anything else is
// an error: a tensor that is missing, of another shape, not finite, or unknown. Errors name the
// file and the tensor, key or byte.
#pragma once

#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/model/parameter_layout.h"
#include "text/language/bert_config.h"

namespace shoal::language {

struct BertParameters {
  BertConfig config;
  // The parameters in the order of BertLayout(config).
  std::vector<float> flat;
};

// Returns the places of the parameters in one flat array, under Hugging Face's names without
// "bert.". Matrices are [out, in]. REQUIRES: config.Validate() is OK.
model::ParameterLayout BertLayout(const BertConfig& config);

// Returns "encoder.layer.<layer>.".
std::string BertLayerPrefix(std::int64_t layer);

// Returns NOT_FOUND when a file is missing, INVALID_ARGUMENT or DATA_LOSS for bad contents. It
// allocates memory only once every tensor is there with its shape.
absl::StatusOr<BertParameters> ReadBertFolder(const std::string& folder);

}  // namespace shoal::language
