// SPDX-License-Identifier: Apache-2.0
#include "rl/model/box_actions.h"

#include <cstddef>
#include <numbers>

#include "rl/model/gaussian.h"
#include "rl/model/squashed_gaussian.h"

namespace shoal::model {

void ChooseBox(const PolicySpec& spec, const PolicyInputs& inputs, std::span<const float> head,
               PolicyOutputs& outputs) {
  const auto n = static_cast<std::size_t>(spec.action_count);
  const auto rows = static_cast<std::size_t>(inputs.rows);
  outputs.box_action.assign(rows * n, 0.0F);
  for (std::size_t row = 0; row < rows; ++row) {
    if (inputs.choice[row] == Choice::kValueOnly) continue;
    const std::span<const float> numbers = head.subspan(row * 2 * n, 2 * n);
    const std::span<const double> draws = std::span(inputs.box_draws).subspan(row * n * 2, n * 2);
    const std::span<float> action = std::span(outputs.box_action).subspan(row * n, n);
    double log_density = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (inputs.choice[row] == Choice::kUniform) {
        action[i] = static_cast<float>(2 * draws[2 * i] - 1);
        log_density -= std::numbers::ln2;
        continue;
      }
      const double noise =
          inputs.choice[row] == Choice::kSample ? NormalOf(draws[2 * i], draws[2 * i + 1]) : 0.0;
      if (spec.has_gaussian()) {
        const Gaussian gaussian(numbers[i], numbers[n + i]);
        action[i] = gaussian.Action(noise);
        log_density += gaussian.LogDensity(action[i]);
        continue;
      }
      const SquashedGaussian gaussian(numbers[i], numbers[n + i]);
      action[i] = static_cast<float>(gaussian.Action(noise));
      log_density += gaussian.LogDensity(noise);
    }
    outputs.log_probability[row] = static_cast<float>(log_density);
  }
}

}  // namespace shoal::model
