// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/network_distillation.h"

#include <algorithm>
#include <cmath>

#include "platform/runtime/random.h"

namespace shoal::actor {

NetworkDistillation::NetworkDistillation(const Options& options)
    : options_(options), target_(Random(0)), predictor_(Random(1)) {}

NetworkDistillation::Network NetworkDistillation::Random(std::uint64_t stream) const {
  runtime::Random random(options_.seed, stream);
  const auto draw = [&](std::size_t count, double deviation) {
    std::vector<float> numbers(count);
    for (float& number : numbers) number = static_cast<float>(deviation * random.Normal());
    return numbers;
  };
  return {.first = draw(options_.size * options_.hidden, 1),
          .bias = draw(options_.hidden, 1),
          .second = draw(options_.outputs * options_.hidden,
                         1 / std::sqrt(static_cast<double>(options_.hidden)))};
}

void NetworkDistillation::Evaluate(const Network& network, std::span<const float> observation,
                                   std::vector<float>& hidden, std::vector<float>& outputs) const {
  hidden = network.bias;
  for (std::size_t i = 0; i < options_.size; ++i) {
    if (observation[i] == 0) continue;
    const float* const weights = network.first.data() + i * options_.hidden;
    for (std::size_t h = 0; h < options_.hidden; ++h) hidden[h] += observation[i] * weights[h];
  }
  for (float& unit : hidden) unit = std::max(unit, 0.0F);
  outputs.assign(options_.outputs, 0.0F);
  for (std::size_t o = 0; o < options_.outputs; ++o) {
    const float* const weights = network.second.data() + o * options_.hidden;
    for (std::size_t h = 0; h < options_.hidden; ++h) outputs[o] += weights[h] * hidden[h];
  }
}

double NetworkDistillation::Observe(std::span<const float> observation) {
  const auto finite = [](float x) { return std::isfinite(x); };
  if (!std::all_of(observation.begin(), observation.end(), finite)) return 0;
  Evaluate(target_, observation, hidden_, wanted_);
  Evaluate(predictor_, observation, hidden_, error_);
  double squares = 0;
  for (std::size_t o = 0; o < options_.outputs; ++o) {
    error_[o] = wanted_[o] - error_[o];
    squares += static_cast<double>(error_[o]) * static_cast<double>(error_[o]);
  }
  double lengths = 1;
  for (const float x : observation) lengths += static_cast<double>(x) * static_cast<double>(x);
  for (const float h : hidden_) lengths += static_cast<double>(h) * static_cast<double>(h);
  const auto step = static_cast<float>(options_.rate / lengths);
  for (std::size_t h = 0; h < options_.hidden; ++h) {
    float by_hidden = 0;
    for (std::size_t o = 0; o < options_.outputs; ++o) {
      float& weight = predictor_.second[o * options_.hidden + h];
      by_hidden += error_[o] * weight;
      weight += step * error_[o] * hidden_[h];
    }
    if (hidden_[h] <= 0) continue;
    predictor_.bias[h] += step * by_hidden;
    for (std::size_t i = 0; i < options_.size; ++i) {
      if (observation[i] == 0) continue;
      predictor_.first[i * options_.hidden + h] += step * by_hidden * observation[i];
    }
  }
  return squares / static_cast<double>(options_.outputs);
}

}  // namespace shoal::actor
