// SPDX-License-Identifier: Apache-2.0
// The optimisers that there are, and what each can be told.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::training {

struct OptimiserOptions {
  enum class Kind : std::uint8_t {
    kAdamW,    // Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019
    kSgd,      // with momentum `beta1`
    kLion,     // Chen et al., "Symbolic Discovery of Optimization Algorithms", 2023
    kAdam,     // Kingma and Ba, "Adam: A Method for Stochastic Optimization", 2015
    kRmsProp,  // Tieleman and Hinton, "Lecture 6.5", 2012, with momentum `beta1`
  };
  Kind kind = Kind::kAdamW;
  // The decay of the running mean of gradients. kSgd and kRmsProp add gradients up instead of
  // averaging them: a steady one counts 1 / (1 - beta1) times.
  double beta1 = 0.9;
  // The decay of the running mean of squares; kLion's second decay. kSgd has no use for it.
  double beta2 = 0.999;
  // What is added to the root of the mean square. kAdamW, kAdam and kRmsProp use it.
  double epsilon = 1e-8;
  // Decoupled weight decay: each step subtracts rate x weight_decay x parameter from the parameters
  // of parts that decay. kAdam adds weight_decay x parameter to the gradient instead, so that it is
  // divided by the root of the mean square, too. With 0 kAdam and kAdamW are the same.
  double weight_decay = 0;

  // Returns INVALID_ARGUMENT naming the option that is not finite or out of range.
  absl::Status Validate() const;
};

// Returns whether the kind keeps the running mean of squared gradients besides its first moment.
bool HasSecondMoment(OptimiserOptions::Kind kind);

// The names of the kinds, in the order of the enumeration.
const std::vector<std::string_view>& OptimiserNames();

// Parses one of OptimiserNames(); INVALID_ARGUMENT lists them.
absl::StatusOr<OptimiserOptions::Kind> ParseOptimiser(std::string_view name);

}  // namespace shoal::training
