// SPDX-License-Identifier: Apache-2.0
#include "rl/estimators/exploration_family.h"

#include <cmath>

#include "platform/runtime/check.h"
#include "rl/estimators/value_transform.h"

namespace shoal::estimators {
namespace {

double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double BetaOf(std::size_t i, std::size_t policies, double greatest) {
  if (i == 0) return 0;
  if (i == policies - 1) return greatest;
  const double middle = static_cast<double>(policies) - 2;
  return greatest * Sigmoid(10 * (2 * static_cast<double>(i) - middle) / middle);
}

// Returns the gamma of rung `i` of `rungs`, from `greatest` at 0 to `least` at `rungs` - 1.
double GammaOf(std::size_t i, std::size_t rungs, double greatest, double least) {
  if (i == 0) return greatest;
  const double part = static_cast<double>(i) / static_cast<double>(rungs - 1);
  return 1 - std::exp((1 - part) * std::log(1 - greatest) + part * std::log(1 - least));
}

}  // namespace

std::vector<ExplorationPolicy> NguFamily(std::size_t policies, const NguFamilyOptions& options) {
  SHOAL_CHECK(options.greatest_gamma < 1 && options.least_gamma < 1);
  std::vector<ExplorationPolicy> family(policies);
  for (std::size_t i = 0; i < policies; ++i) {
    family[i].beta = BetaOf(i, policies, options.greatest_beta);
    family[i].gamma = GammaOf(i, policies, options.greatest_gamma, options.least_gamma);
  }
  return family;
}

std::vector<ExplorationPolicy> Agent57Family(std::size_t policies,
                                             const Agent57FamilyOptions& options) {
  // The policies before this one share the gammas from the greatest to the middle one.
  constexpr std::size_t kMiddle = 7;
  SHOAL_CHECK(options.greatest_gamma < 1 && options.middle_gamma < 1 && options.least_gamma < 1);
  std::vector<ExplorationPolicy> family(policies);
  for (std::size_t i = 0; i < policies; ++i) {
    family[i].beta = BetaOf(i, policies, options.greatest_beta);
    if (i == 0) {
      family[i].gamma = options.greatest_gamma;
    } else if (i < kMiddle) {
      const double part = Sigmoid(10 * (2 * static_cast<double>(i) - 6) / 6);
      family[i].gamma =
          options.middle_gamma + (options.greatest_gamma - options.middle_gamma) * part;
    } else if (i == kMiddle) {
      family[i].gamma = options.middle_gamma;
    } else {
      family[i].gamma = GammaOf(i - kMiddle - 1, policies - kMiddle - 1, options.middle_gamma,
                                options.least_gamma);
    }
  }
  return family;
}

double MixedActionValue(double extrinsic, double intrinsic, double beta) {
  return SignedHyperbolic(InverseSignedHyperbolic(extrinsic) +
                          beta * InverseSignedHyperbolic(intrinsic));
}

}  // namespace shoal::estimators
