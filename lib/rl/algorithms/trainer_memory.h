// SPDX-License-Identifier: Apache-2.0
// The memory that a policy trainer and its updates take on their device, computed from the
// configuration alone, so that it can be known before anything is allocated.
//
// Arrays of parameters follow from the layout of the network itself and are exact. The batch and
// the activations are estimates. For small policies of candidates, with and without a core, and for
// Gaussians tests hold the sum of all items to within a quarter of what a trainer's tensors take at
// their peak.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/status.h"
#include "rl/algorithms/algorithm_options.h"
#include "rl/model/policy_spec.h"

namespace shoal::algorithms {

// The batch of one rank.
struct UpdateShape {
  std::int64_t length = 0;   // T, the rows of an unroll without its bootstrap row
  std::int64_t columns = 0;  // B
  // The different contents of the batch.
  std::int64_t contents = 0;
};

// All but the first two are bytes.
struct TrainerMemory {
  // The numbers of the network, and those of them that are trained.
  std::int64_t parameters = 0;
  std::int64_t trained = 0;

  std::int64_t parameter_bytes = 0;
  // The parameters of the target network; 0 with an algorithm that has none.
  std::int64_t target_bytes = 0;
  std::int64_t gradient_bytes = 0;
  std::int64_t optimiser_bytes = 0;
  // What an update keeps to take itself back when it fails: parameters and moments before it.
  std::int64_t rollback_bytes = 0;
  // The batch as tensors.
  std::int64_t batch_bytes = 0;
  // What the layers of a minibatch keep for the gradient, with the gradients of the two widest; or
  // the evaluation of all rows without gradients, where the algorithm needs it and it is larger.
  // Logits of candidates are left out: a CPU holds them for some rows at a time only.
  std::int64_t activation_bytes = 0;

  std::int64_t total_bytes() const;
};

// Returns INVALID_ARGUMENT for a policy, an algorithm or an optimiser that is none, and for a shape
// that is negative or has more than 2^31 rows or contents. Whether policy and algorithm go together
// is left to PolicyTrainer::Create.
absl::StatusOr<TrainerMemory> EstimateTrainerMemory(const model::PolicySpec& spec,
                                                    const AlgorithmOptions& options,
                                                    const UpdateShape& shape);

// Returns the members as a JSON object of one line.
std::string ToJson(const TrainerMemory& memory);

}  // namespace shoal::algorithms
