// SPDX-License-Identifier: Apache-2.0
// The interface between the policy's head and the loss of its rows.
//
// The head knows logits but no algorithm; the loss sees only a few numbers of each row. This header
// shows torch and is for this folder only.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace shoal::algorithms {

// What the head's numbers of a row are.
enum class HeadOutput {
  kLogits,
  kActionValues,
  // The same, where the loss needs the value of the row's action alone.
  kChosenValues,
};

// R rows after the forward pass; tensors are [R], double.
struct HeadRows {
  // The positions of the rows among the rows that the head was given.
  std::span<const std::int64_t> positions;
  // The same on the device where a batch is computed as a whole, otherwise undefined.
  at::Tensor where = {};

  // With kLogits.
  at::Tensor log_probability = {};
  at::Tensor entropy = {};
  at::Tensor greedy = {};

  // With kActionValues and kChosenValues: the head's number of the row's action.
  at::Tensor chosen = {};
  // With kActionValues: the mean of the numbers of the legal actions, the greatest one, and the
  // action that has it (the lowest among equals; long).
  at::Tensor mean = {};
  at::Tensor maximum = {};
  at::Tensor greedy_action = {};
};

// The derivatives of the loss of R rows; [R], double. They are undefined when only the forward pass
// is needed.
struct HeadDerivatives {
  at::Tensor by_log_probability = {};
  at::Tensor by_entropy = {};

  at::Tensor by_chosen = {};
  // Undefined where the loss does not depend on the mean.
  at::Tensor by_mean = {};
};

// The head calls it for one chunk of rows after another, with each row once.
using HeadLoss = std::function<HeadDerivatives(const HeadRows& rows)>;

}  // namespace shoal::algorithms
