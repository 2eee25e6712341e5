// SPDX-License-Identifier: Apache-2.0
// Exploration families: the N policies that one network of NGU or Agent57 holds, from one that
// only exploits and looks far ahead to one that explores most and looks less far.
//
// Policy i maximises r_extrinsic + beta_i r_intrinsic with discount gamma_i. A step that terminated
// its episode has discount 0 in place of gamma_i; a truncated one keeps gamma_i.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal::estimators {

struct ExplorationPolicy {
  double beta = 0;
  double gamma = 0;
};

struct NguFamilyOptions {
  double greatest_beta = 0.3;
  double greatest_gamma = 0.997;
  double least_gamma = 0.99;
};

// Returns the family of NGU (Badia et al. 2020, "Never Give Up"), [N]:
//   beta_i is 0 for i = 0, greatest_beta for i = N - 1, and otherwise
//     greatest_beta sigmoid(10 (2i - (N - 2)) / (N - 2));
//   gamma_i is 1 - exp(((N - 1 - i) ln(1 - greatest_gamma) + i ln(1 - least_gamma)) / (N - 1)),
//     so that horizons are spaced evenly in their logarithm.
// A family of one only exploits. REQUIRES: gammas below 1.
std::vector<ExplorationPolicy> NguFamily(std::size_t policies,
                                         const NguFamilyOptions& options = {});

struct Agent57FamilyOptions {
  double greatest_beta = 0.3;
  double greatest_gamma = 0.9999;
  double middle_gamma = 0.997;
  double least_gamma = 0.99;
};

// Returns the family of Agent57 (Badia et al. 2020, "Agent57"), [N], with the betas of NGU:
//   gamma_i is greatest_gamma for i = 0, middle_gamma for i = 7, between them
//     middle_gamma + (greatest_gamma - middle_gamma) sigmoid(10 (2i - 6) / 6), and from 8 on
//     1 - exp(((N - 9 - (i - 8)) ln(1 - middle_gamma) + (i - 8) ln(1 - least_gamma)) / (N - 9)).
// REQUIRES: gammas below 1.
std::vector<ExplorationPolicy> Agent57Family(std::size_t policies,
                                             const Agent57FamilyOptions& options = {});

// Where rewards of task and novelty stay apart, a step's reward is the task's, and the observation
// that it leads to begins with kSplitNumbers numbers: at kFactorPlace beta_i / greatest_beta of the
// policy i that plays, and at kIntrinsicRewardPlace greatest_beta r_intrinsic of the step. So the
// intrinsic reward of a row is in the row after it; the step that terminates an episode leads to no
// observation, and has none. With the product of both the reward of policy i is
// r_extrinsic + beta_i r_intrinsic, as above, and nobody else has to know greatest_beta.
inline constexpr std::int64_t kSplitNumbers = 2;
inline constexpr std::int64_t kFactorPlace = 0;
inline constexpr std::int64_t kIntrinsicRewardPlace = 1;

// Returns the action value by which policy i of Agent57 chooses, h(h^-1(extrinsic) + beta
// h^-1(intrinsic)) with the signed hyperbolic h (value_transform.h; "Agent57", section 3.1),
// from the predictions of its two networks.
double MixedActionValue(double extrinsic, double intrinsic, double beta);

}  // namespace shoal::estimators
