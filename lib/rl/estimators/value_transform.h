// SPDX-License-Identifier: Apache-2.0
// Transforms of values: functions h that let a network predict h(return) where returns span several
// orders of magnitude (Pohlen et al. 2018, "Observe and Look Further"; used by R2D2, NGU and
// Agent57).
//
// A return is linear in rewards and values, h is not. So values that a network predicts go through
// h^-1 before rewards are added to them, and the target goes through h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace shoal::estimators {

// The epsilon of the papers, which keeps h^-1 Lipschitz continuous.
inline constexpr double kHyperbolicEpsilon = 1e-3;

// Returns h(x) = sign(x) (sqrt(|x| + 1) - 1) + epsilon x. REQUIRES: epsilon > 0.
double SignedHyperbolic(double x, double epsilon = kHyperbolicEpsilon);

// Returns h^-1(x) = sign(x) (((sqrt(1 + 4 epsilon (|x| + 1 + epsilon)) - 1) / (2 epsilon))^2 - 1).
// REQUIRES: epsilon > 0.
double InverseSignedHyperbolic(double x, double epsilon = kHyperbolicEpsilon);

enum class ValueTransform : std::uint8_t {
  kIdentity,
  kSignedHyperbolic,  // with the epsilon of the papers
};

// Return h and h^-1 of one number, and of each of several.
double Apply(ValueTransform transform, double value);
double Invert(ValueTransform transform, double value);
std::vector<float> Apply(ValueTransform transform, std::span<const float> values);
std::vector<float> Invert(ValueTransform transform, std::span<const float> values);

}  // namespace shoal::estimators
