// SPDX-License-Identifier: Apache-2.0
// A state encoder on disk: a folder with config.json (state_config.h) and model.safetensors.
//
// The file of weights has the pooling alone. The decoder serves training only and is part of its
// checkpoints. The reader accepts F32, F16, BF16 and F64, and is strict otherwise: a tensor that is
// missing, of another shape, not finite, or unknown is an error that names the file and the tensor.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/model/parameter_layout.h"
#include "text/language/state_config.h"

namespace shoal::language {

struct StateParameters {
  StateConfig config;
  // The parameters in the order of PoolingLayout(config).
  std::vector<float> flat;
};

// The names of the mean and the inverse deviation of the base's hidden states, each [D]. They are
// measured and not learned.
inline constexpr char kStateMean[] = "input.mean";
inline constexpr char kStateScale[] = "input.scale";

// Return the places of the parameters in one flat array, those of the pooling alone, and with those
// of the decoder behind them. REQUIRES: config.Validate() is OK.
model::ParameterLayout PoolingLayout(const StateConfig& config);
model::ParameterLayout StateLayout(const StateConfig& config);

// Returns NOT_FOUND when a file is missing, INVALID_ARGUMENT or DATA_LOSS for bad contents.
absl::StatusOr<StateParameters> ReadStateFolder(const std::string& folder);

// Writes each file whole or not at all, the weights first, as F16. REQUIRES: `flat` is in the order
// of PoolingLayout(config), or of StateLayout(config), whose decoder is left out.
absl::Status WriteStateFolder(const std::string& folder, const StateConfig& config,
                              std::span<const float> flat);

}  // namespace shoal::language
