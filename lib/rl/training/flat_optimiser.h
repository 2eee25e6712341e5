// SPDX-License-Identifier: Apache-2.0
// Optimisers over one flat array of parameters, on the device where it lies.
//
// Shows torch. Matrices decay, biases and norms do not. Element by element: same inputs, same bits.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "rl/model/parameter_layout.h"
#include "text/language/language_trainer.h"

namespace shoal::language {

class FlatOptimiser {
 public:
  // `flat` and `gradient`: [layout.total], float32, contiguous, on one device; both are borrowed
  // by every Step. REQUIRES: the options are valid.
  FlatOptimiser(const OptimiserOptions& options, const model::ParameterLayout& layout,
                const at::Tensor& flat, const at::Tensor& gradient);

  void Step(double rate);

  // Running means, [layout.total]: of the gradient; of its square (kAdamW, else empty).
  const at::Tensor& first_moment() const { return first_; }
  const at::Tensor& second_moment() const { return second_; }
  // Steps taken.
  std::int64_t steps() const { return steps_; }
  // REQUIRES: moments of the same sizes as those above.
  void Restore(const at::Tensor& first, const at::Tensor& second, std::int64_t steps);

 private:
  // Parts of the flat arrays that are treated alike.
  struct Group {
    double weight_decay = 0;
    std::vector<at::Tensor> parameters = {};
    std::vector<at::Tensor> gradients = {};
    std::vector<at::Tensor> first = {};
    std::vector<at::Tensor> second = {};
  };

  void StepAdamW(const Group& group, double rate);
  void StepSgd(const Group& group, double rate);
  void StepLion(const Group& group, double rate);

  const OptimiserOptions options_;
  at::Tensor first_;
  at::Tensor second_;
  std::int64_t steps_ = 0;
  std::vector<Group> groups_;
};

}  // namespace shoal::language
