// SPDX-License-Identifier: Apache-2.0
// Random network distillation: tells how new an observation is in the life of an agent by how badly
// a small network, which is trained on everything seen, predicts what a fixed random network makes
// of it (Burda et al. 2019, "Exploration by Random Network Distillation").
//
// Both networks have one hidden layer of rectified units and see observations as they are. In place
// of Adam over batches, the predictor takes one normalised gradient step for each observation: the
// gradient is divided by 1 plus the squared lengths of what the layers see, so that the step can
// take no more than about `rate` of the error away, whatever the scale of observations. Not
// thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

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
  // finite has error 0 and trains nothing. REQUIRES: it has the size of the options.
  double Observe(std::span<const float> observation);

 private:
  struct Network {
    std::vector<float> first;   // [size, hidden]
    std::vector<float> bias;    // [hidden]
    std::vector<float> second;  // [outputs, hidden]
  };

  Network Random(std::uint64_t stream) const;
  // Writes what the hidden units and the outputs are.
  void Evaluate(const Network& network, std::span<const float> observation,
                std::vector<float>& hidden, std::vector<float>& outputs) const;

  const Options options_;
  const Network target_;
  Network predictor_;
  std::vector<float> hidden_;
  std::vector<float> wanted_;
  std::vector<float> error_;
};

}  // namespace shoal::actor
