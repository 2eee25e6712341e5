// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/network_distillation.h"

#include <cmath>

#include "platform/runtime/random.h"

namespace shoal::actor {

NetworkDistillation::NetworkDistillation(const Options& options)
    : options_(options), target_(Random(0)), predictor_(Random(1)) {}

RectifiedNetwork NetworkDistillation::Random(std::uint64_t stream) const {
  return {{.inputs = options_.size, .hidden = options_.hidden, .outputs = options_.outputs},
          1,
          runtime::Random(options_.seed, stream)};
}

double NetworkDistillation::Observe(std::span<const float> observation) {
  target_.Evaluate(observation, wanted_);
  predictor_.Evaluate(observation, predicted_);
  error_.resize(options_.outputs);
  double squares = 0;
  for (std::size_t o = 0; o < options_.outputs; ++o) {
    error_[o] = wanted_.outputs[o] - predicted_.outputs[o];
    squares += static_cast<double>(error_[o]) * static_cast<double>(error_[o]);
  }
  const double length = RectifiedNetwork::SquaredLength(observation, predicted_);
  if (!std::isfinite(length)) return 0;
  predictor_.Propagate(error_, predicted_);
  predictor_.Step(observation, predicted_, error_, static_cast<float>(options_.rate / length));
  return squares / static_cast<double>(options_.outputs);
}

}  // namespace shoal::actor
