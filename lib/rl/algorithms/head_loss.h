// SPDX-License-Identifier: Apache-2.0
// How the head of the policy and the loss of its rows meet.
//
// The head knows logits and nothing of algorithms; the loss knows one number or two of each row.
// Shows torch: for this folder only.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace shoal::algorithms {

// R rows after the forward pass; [R], double.
struct HeadRows {
  // Places of the rows among those that the head was given.
  std::span<const std::int64_t> positions;
  at::Tensor log_probability;
  at::Tensor entropy;
  at::Tensor greedy;
};

// Derivatives of the loss of R rows; [R], double. Undefined where only the forward pass is wanted.
struct HeadDerivatives {
  at::Tensor by_log_probability;
  at::Tensor by_entropy;
};

// Called for chunk after chunk of rows, each row once.
using HeadLoss = std::function<HeadDerivatives(const HeadRows& rows)>;

}  // namespace shoal::algorithms
