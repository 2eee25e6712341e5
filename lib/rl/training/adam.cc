// SPDX-License-Identifier: Apache-2.0
#include "rl/training/adam.h"

#include <cmath>
#include <utility>

#include "platform/runtime/check.h"

namespace shoal::training {

Adam::Adam(const AdamOptions& options, std::size_t size) : options_(options) {
  moments_.first.assign(size, 0.0F);
  moments_.second.assign(size, 0.0F);
}

void Adam::Step(double learning_rate, std::span<const float> gradient,
                std::span<float> parameters) {
  const std::size_t size = moments_.first.size();
  SHOAL_CHECK(gradient.size() == size && parameters.size() == size);
  ++moments_.steps;
  const auto steps = static_cast<double>(moments_.steps);
  const double correction1 = 1 - std::pow(options_.beta1, steps);
  const double correction2 = 1 - std::pow(options_.beta2, steps);
  const auto beta1 = static_cast<float>(options_.beta1);
  const auto beta2 = static_cast<float>(options_.beta2);
  const auto rate = static_cast<float>(learning_rate / correction1);
  const auto root = static_cast<float>(1 / std::sqrt(correction2));
  const auto epsilon = static_cast<float>(options_.epsilon);
  const auto keep = static_cast<float>(1 - learning_rate * options_.weight_decay);
  float* const m = moments_.first.data();
  float* const v = moments_.second.data();
  for (std::size_t i = 0; i < size; ++i) {
    const float g = gradient[i];
    m[i] = beta1 * m[i] + (1 - beta1) * g;
    v[i] = beta2 * v[i] + (1 - beta2) * g * g;
    parameters[i] = keep * parameters[i] - rate * m[i] / (std::sqrt(v[i]) * root + epsilon);
  }
}

void Adam::Restore(Moments moments) {
  SHOAL_CHECK(moments.first.size() == moments_.first.size());
  SHOAL_CHECK(moments.second.size() == moments_.second.size());
  moments_ = std::move(moments);
}

double ClipByNorm(std::span<float> gradient, double max_norm) {
  double sum = 0;
  for (const float g : gradient) sum += static_cast<double>(g) * static_cast<double>(g);
  const double norm = std::sqrt(sum);
  if (max_norm > 0 && norm > max_norm) {
    const auto factor = static_cast<float>(max_norm / norm);
    for (float& g : gradient) g *= factor;
  }
  return norm;
}

}  // namespace shoal::training
