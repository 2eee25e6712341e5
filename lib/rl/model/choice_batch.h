// SPDX-License-Identifier: Apache-2.0
// Chooses the actions of many rows at once by torch's operations, on any device, as ChooseAction
// (policy.h) does it row by row. This header shows torch. Functions throw what torch throws. Not
// thread-safe.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "rl/model/policy.h"
#include "rl/model/torch_device.h"

namespace shoal::model {

class ChoiceBatch {
 public:
  struct Chosen {
    at::Tensor action;           // [R], long; -1 for kValueOnly, and where nothing is legal
    at::Tensor log_probability;  // [R], float
  };

  // Adds to `arrays` how the rows `rows` of `inputs` choose. A row of kSimilarity gets the greedy
  // action, which the caller replaces. Rows of kValueOnly follow until there are `padded`, if that
  // is more.
  ChoiceBatch(const PolicyInputs& inputs, std::span<const std::int64_t> rows, DeviceBatch& arrays,
              std::int64_t padded = 0);

  // `logits` is [R, W]. REQUIRES: `arrays` is the one that the constructor got, and was sent.
  Chosen Of(const DeviceBatch& arrays, const at::Tensor& logits) const;

  // Of equal numbers the operations of Of are the same.
  std::int64_t operations() const {
    return (any_samples_ ? 1 : 0) + (any_explores_ ? 2 : 0) + (any_forced_ ? 4 : 0);
  }

 private:
  std::int64_t rows_ = 0;
  bool any_samples_ = false;
  bool any_explores_ = false;
  bool any_forced_ = false;
  DeviceBatch::Array choice_;
  DeviceBatch::Array draw_;
  DeviceBatch::Array epsilon_;
  DeviceBatch::Array forced_action_;
};

}  // namespace shoal::model
