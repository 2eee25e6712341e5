// SPDX-License-Identifier: Apache-2.0
// Adam with decoupled weight decay over one flat array, and clipping by the norm of all gradients.
//
// Not thread-safe. One element after the other in a fixed order: same inputs, same bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace shoal::training {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  // 0: plain Adam.
  double weight_decay = 0;
};

class Adam {
 public:
  struct Moments {
    std::vector<float> first;
    std::vector<float> second;
    // Steps taken.
    std::int64_t steps = 0;
  };

  Adam(const AdamOptions& options, std::size_t size);

  // REQUIRES: both have the size given at construction.
  void Step(double learning_rate, std::span<const float> gradient, std::span<float> parameters);

  const Moments& moments() const { return moments_; }
  // REQUIRES: the sizes fit.
  void Restore(Moments moments);

 private:
  const AdamOptions options_;
  Moments moments_;
};

// The 2-norm of `gradient` before, which is then scaled down to `max_norm` when above it (0:
// never).
double ClipByNorm(std::span<float> gradient, double max_norm);

}  // namespace shoal::training
