// SPDX-License-Identifier: Apache-2.0
// Optimisers over one flat array of parameters, on the array's device, and gradient clipping by the
// global norm.
//
// This header shows torch. Not thread-safe. Every element is computed independently, so the same
// inputs give the same bits.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "rl/training/optimiser_options.h"

namespace shoal::training {

class FlatOptimiser {
 public:
  // A range of the flat array. Floats outside all parts are left as they are.
  struct Part {
    std::int64_t offset = 0;
    std::int64_t size = 0;
    bool decays = true;
  };
  // A range of parameters that may lie anywhere, with its gradient of the same size.
  struct Range {
    at::Tensor parameters;
    at::Tensor gradient;
    // Where its moments are among all of them.
    std::int64_t offset = 0;
    bool decays = true;
  };
  struct Moments {
    // The running mean of the gradient, of the array's size; what momentum has added up for kSgd
    // and kRmsProp.
    at::Tensor first;
    // The running mean of the squared gradient; empty for kSgd and kLion.
    at::Tensor second;
    // The number of steps taken.
    std::int64_t steps = 0;
  };

  // `parameters` and `gradient` have the same size and are float32, contiguous and on one device;
  // every Step reads and writes them. REQUIRES: the options are valid and the parts lie within the
  // arrays.
  FlatOptimiser(const OptimiserOptions& options, const at::Tensor& parameters,
                const at::Tensor& gradient, const std::vector<Part>& parts);
  // The same for ranges, with moments like `moments`, one array of float32 whose values do not
  // matter. REQUIRES: the ranges' moments lie within it.
  FlatOptimiser(const OptimiserOptions& options, const at::Tensor& moments,
                const std::vector<Range>& ranges);

  void Step(double rate);

  // The optimiser's own memory, which the next Step changes.
  const Moments& moments() const { return moments_; }
  // Copies the values. REQUIRES: the moments have the sizes that moments() has.
  void Restore(const Moments& moments);

 private:
  // Parts of the flat arrays with the same weight decay.
  struct Group {
    double weight_decay = 0;
    std::vector<at::Tensor> parameters = {};
    std::vector<at::Tensor> gradients = {};
    std::vector<at::Tensor> first = {};
    std::vector<at::Tensor> second = {};
  };

  void StepAdam(const Group& group, double rate);
  void StepSgd(const Group& group, double rate);
  void StepLion(const Group& group, double rate);
  void StepRmsProp(const Group& group, double rate);

  const OptimiserOptions options_;
  Moments moments_;
  std::vector<Group> groups_;
};

// Returns the 2-norm of `gradient`, and scales `gradient` down to `max_norm` when the norm is above
// it. A `max_norm` of 0 never scales.
double ClipByNorm(const at::Tensor& gradient, double max_norm);

}  // namespace shoal::training
