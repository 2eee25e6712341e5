// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/rectified_network.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal::actor {

RectifiedNetwork::RectifiedNetwork(const Shape& shape, double deviation, runtime::Random random)
    : shape_(shape), parameters_(second() + shape.outputs * shape.hidden) {
  const double second_deviation = 1 / std::sqrt(static_cast<double>(shape.hidden));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    parameters_[i] =
        static_cast<float>((i < second() ? deviation : second_deviation) * random.Normal());
  }
}

void RectifiedNetwork::Evaluate(std::span<const float> input, Pass& pass) const {
  const float* const bias_of = parameters_.data() + bias();
  pass.hidden.assign(bias_of, bias_of + shape_.hidden);
  for (std::size_t i = 0; i < shape_.inputs; ++i) {
    if (input[i] == 0) continue;
    const float* const weights = parameters_.data() + i * shape_.hidden;
    for (std::size_t h = 0; h < shape_.hidden; ++h) pass.hidden[h] += input[i] * weights[h];
  }
  for (float& unit : pass.hidden) unit = std::max(unit, 0.0F);
  pass.outputs.assign(shape_.outputs, 0.0F);
  for (std::size_t o = 0; o < shape_.outputs; ++o) {
    const float* const weights = parameters_.data() + second() + o * shape_.hidden;
    for (std::size_t h = 0; h < shape_.hidden; ++h) pass.outputs[o] += weights[h] * pass.hidden[h];
  }
}

double RectifiedNetwork::SquaredLength(std::span<const float> input, const Pass& pass) {
  double squares = 1;
  for (const float x : input) squares += static_cast<double>(x) * static_cast<double>(x);
  for (const float h : pass.hidden) squares += static_cast<double>(h) * static_cast<double>(h);
  return squares < 1e30 ? squares : std::numeric_limits<double>::infinity();
}

void RectifiedNetwork::Propagate(std::span<const float> change, Pass& pass) const {
  pass.hidden_change.assign(shape_.hidden, 0.0F);
  for (std::size_t o = 0; o < shape_.outputs; ++o) {
    const float* const weights = parameters_.data() + second() + o * shape_.hidden;
    for (std::size_t h = 0; h < shape_.hidden; ++h) pass.hidden_change[h] += change[o] * weights[h];
  }
  for (std::size_t h = 0; h < shape_.hidden; ++h) {
    if (pass.hidden[h] <= 0) pass.hidden_change[h] = 0;
  }
}

void RectifiedNetwork::PropagateToInput(const Pass& pass, std::span<float> change) const {
  for (std::size_t i = 0; i < shape_.inputs; ++i) {
    const float* const weights = parameters_.data() + i * shape_.hidden;
    change[i] = 0;
    for (std::size_t h = 0; h < shape_.hidden; ++h) change[i] += weights[h] * pass.hidden_change[h];
  }
}

void RectifiedNetwork::Step(std::span<const float> input, const Pass& pass,
                            std::span<const float> change, float step) {
  for (std::size_t o = 0; o < shape_.outputs; ++o) {
    float* const weights = parameters_.data() + second() + o * shape_.hidden;
    for (std::size_t h = 0; h < shape_.hidden; ++h) {
      weights[h] += step * change[o] * pass.hidden[h];
    }
  }
  float* const biases = parameters_.data() + bias();
  for (std::size_t h = 0; h < shape_.hidden; ++h) biases[h] += step * pass.hidden_change[h];
  for (std::size_t i = 0; i < shape_.inputs; ++i) {
    if (input[i] == 0) continue;
    float* const weights = parameters_.data() + i * shape_.hidden;
    for (std::size_t h = 0; h < shape_.hidden; ++h) {
      weights[h] += step * pass.hidden_change[h] * input[i];
    }
  }
}

}  // namespace shoal::actor
