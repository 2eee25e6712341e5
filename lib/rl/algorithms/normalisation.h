// SPDX-License-Identifier: Apache-2.0
// Running moments of what a trainer has seen: those of observations, by which the network
// normalises what it sees, and those of discounted returns, by whose deviation rewards are divided.
// Rewards can be clipped, too.
//
// Moments of observations are frozen parameters of the network, so that they travel with each
// version: inference and learner normalise alike, and a row is evaluated with the moments under
// which it was played as long as the version is the same. They change after an update, never in it.
// Moments of returns are the learner's own. They take in a batch before its rewards are divided, so
// that the first update has a scale.
//
// Sums are reduced over the ranks, so all of them hold the same bits. Not thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/algorithms/unroll_batch.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/estimators/reward_clipping.h"
#include "rl/estimators/running_moments.h"
#include "rl/model/policy_spec.h"

namespace shoal::algorithms {

struct RewardShaping {
  estimators::RewardClipping clipping = estimators::RewardClipping::kNone;
  // The limit of symmetric clipping.
  double limit = 1;
  bool normalise_returns = false;
  // The discount of the returns whose deviation is measured.
  double gamma = 0.99;
};

class Normalisation {
 public:
  // `reducer` must outlive this.
  Normalisation(const model::PolicySpec& spec, const RewardShaping& shaping,
                collectives::GradientReducer& reducer);

  bool shapes_rewards() const {
    return shaping_.clipping != estimators::RewardClipping::kNone || shaping_.normalise_returns;
  }
  bool has_moments() const { return normalises_observations() || shaping_.normalise_returns; }
  bool normalises_observations() const { return spec_.normalise_observations; }

  // Clips the batch's rewards and then, with normalise_returns, divides them by the deviation of
  // the returns so far, those of this batch included. What results is within [-10, 10]. A return
  // sums the rewards of an unroll up to a row, from its first row or the start of the episode on,
  // each discounted by its distance: it looks back, so that it needs no critic (as in OpenAI
  // Baselines' VecNormalize). Every rank calls it. The errors are the reducer's, and
  // collectives::SharedFailure where returns are not finite.
  absl::Status ShapeRewards(UnrollBatch& batch);

  // Adds the observations of all rows with weight. Every rank calls it. The errors are the
  // reducer's. REQUIRES: normalises_observations().
  absl::Status Observe(const UnrollBatch& batch);
  // What the network has to subtract from observations and to multiply them by, [O] each: 0 and 1
  // before two rows were seen.
  std::vector<float> observation_mean() const;
  std::vector<float> observation_scale() const;

  // The standard deviation of returns so far; 0 without normalise_returns.
  double return_deviation() const;
  // The moments of returns, and back to those of before.
  const estimators::RunningMoments& returns() const { return returns_; }
  void RestoreReturns(const estimators::RunningMoments& before) { returns_ = before; }

  // The moments as text, and back. INVALID_ARGUMENT for a text that is none, or of other sizes.
  // Moments that it lacks, and all with an empty text, start anew. An error changes nothing.
  std::string Serialise() const;
  absl::Status Restore(std::string_view text);

 private:
  const model::PolicySpec spec_;
  const RewardShaping shaping_;
  collectives::GradientReducer& reducer_;
  estimators::RunningMoments observations_;
  estimators::RunningMoments returns_;
};

// Returns the moments of `text`, as Serialise writes them, with those of `observation_size` numbers
// of an observation. Numbers that are added begin with mean 0 and deviation 1; then all count as
// few rows, so that these are soon what is observed. With 0 numbers moments of observations begin
// anew when they are restored. INVALID_ARGUMENT for a text that is none.
absl::StatusOr<std::string> FitMoments(std::string_view text, std::int64_t observation_size);

// Returns the discounted sum of rewards up to each row, [T, B].
std::vector<float> BackwardReturns(const UnrollBatch& batch, double gamma);

}  // namespace shoal::algorithms
