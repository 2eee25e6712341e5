// SPDX-License-Identifier: Apache-2.0
// The random numbers of one optimiser step of a rank.
//
// Each call's numbers are a function of (seed, rank, step, purpose) alone, so a trainer that goes
// on from a checkpoint draws the same ones. Immutable. This header shows torch and is for this
// folder only.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "rl/model/policy_spec.h"

namespace shoal::algorithms {

class StepDraws {
 public:
  // `step` counts the optimiser's steps before this one.
  StepDraws(std::uint64_t seed, std::int64_t rank, std::int64_t step)
      : seed_(seed), rank_(rank), step_(step) {}

  // Returns `size` numbers in [0, 1).
  std::vector<float> Uniform(const std::string& purpose, std::int64_t size) const;
  // Returns standard normal numbers for the actions of `rows` rows, [rows, n], on `device`; an
  // undefined tensor where `spec` has no box.
  at::Tensor Noise(const std::string& purpose, std::int64_t rows, const model::PolicySpec& spec,
                   at::Device device) const;

 private:
  template <typename Next>
  std::vector<float> Draw(const std::string& purpose, std::int64_t size, const Next& next) const;

  const std::uint64_t seed_;
  const std::int64_t rank_;
  const std::int64_t step_;
};

}  // namespace shoal::algorithms
