// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/step_draws.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "platform/runtime/random.h"
#include "rl/model/torch_device.h"

namespace shoal::algorithms {

template <typename Next>
std::vector<float> StepDraws::Draw(const std::string& purpose, std::int64_t size,
                                   const Next& next) const {
  runtime::Random random(runtime::DeriveSeed(seed_, purpose + " of rank " + std::to_string(rank_)),
                         static_cast<std::uint64_t>(step_));
  std::vector<float> numbers(static_cast<std::size_t>(size));
  for (float& number : numbers) number = next(random);
  return numbers;
}

std::vector<float> StepDraws::Uniform(const std::string& purpose, std::int64_t size) const {
  // A number is below 1 in a double, and may be rounded to 1 in a float.
  return Draw(purpose, size, [](runtime::Random& random) {
    return std::min(static_cast<float>(random.Uniform()), std::nextafter(1.0F, 0.0F));
  });
}

at::Tensor StepDraws::Noise(const std::string& purpose, std::int64_t rows,
                            const model::PolicySpec& spec, at::Device device) const {
  if (!spec.has_box()) return {};
  const auto normal = [](runtime::Random& random) { return static_cast<float>(random.Normal()); };
  return model::CopyUp(Draw(purpose, rows * spec.action_count, normal), device)
      .view({rows, spec.action_count});
}

}  // namespace shoal::algorithms
