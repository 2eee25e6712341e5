// SPDX-License-Identifier: Apache-2.0
// Random network distillation: tells how new an observation is in the life of an agent by how badly
// a small network, which is trained on everything seen, predicts what a fixed random network makes
// of it (Burda et al. 2019, "Exploration by Random Network Distillation").
//
// Both networks (rectified_network.h) see observations as they are. In place of Adam over batches,
// the predictor takes one normalised gradient step for each observation: the gradient is divided by
// 1 plus the squared lengths of what the layers see, so that the step can take no more than about
// `rate` of the error away, whatever the scale of observations. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "actor/environments/rectified_network.h"

namespace shoal::actor {

class NetworkDistillation {
 public:
  struct Options {
    // The length of an observation, at least 1.
    std::size_t size = 1;
    std::size_t hidden = 32;
    std::size_t outputs = 16;
    double rate = 0.02;
    // Both networks are functions of it.
    std::uint64_t seed = 0;
  };

  explicit NetworkDistillation(const Options& options);

  // Returns the mean squared error of the predictor, then trains it. An observation that is not
  // finite, or too large to compute with, has error 0 and trains nothing. REQUIRES: it has the size
  // of the options.
  double Observe(std::span<const float> observation);

 private:
  RectifiedNetwork Random(std::uint64_t stream) const;

  const Options options_;
  const RectifiedNetwork target_;
  RectifiedNetwork predictor_;
  RectifiedNetwork::Pass wanted_;
  RectifiedNetwork::Pass predicted_;
  std::vector<float> error_;
};

}  // namespace shoal::actor
