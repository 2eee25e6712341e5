// SPDX-License-Identifier: Apache-2.0
#include "cli/session/stop_rule.h"

#include <algorithm>

namespace shoal::cli {

double ScoreOf(const Evaluation& evaluation, const Score& score) {
  return evaluation.has_goals ? score.success_rate() : score.mean_return();
}

bool StopRule::ReachesBars(const Evaluation& evaluation) const {
  const Score score = evaluation.Total("learned");
  const bool enough = score.episodes > 0 && ScoreOf(evaluation, score) >= options_.stop_score;
  const bool everywhere =
      !evaluation.has_goals ||
      std::all_of(evaluation.pairs.begin(), evaluation.pairs.end(), [this](const auto& entry) {
        const auto& [pair, own] = entry;
        return pair.policy != "learned" || own.episodes == 0 ||
               own.success_rate() >= options_.stop_pair_success;
      });
  const bool lean = options_.stop_mutations <= 0 || !evaluation.has_goals ||
                    score.mutations_per_optimal().value_or(1e9) <= options_.stop_mutations;
  const bool short_enough = options_.stop_steps <= 0 || !evaluation.has_goals ||
                            score.steps_per_optimal().value_or(1e9) <= options_.stop_steps;
  return enough && everywhere && lean && short_enough;
}

bool StopRule::Observe(const Evaluation& evaluation, double environment_steps) {
  in_a_row_ = ReachesBars(evaluation) ? in_a_row_ + 1 : 0;
  if (in_a_row_ == 1) first_steps_ = environment_steps;
  return in_a_row_ >= options_.stop_evaluations;
}

bool StopRule::Confirm(const Evaluation& evaluation) {
  if (ReachesBars(evaluation)) return true;
  in_a_row_ = 0;
  return false;
}

std::optional<double> StopRule::reached_steps() const {
  if (in_a_row_ < options_.stop_evaluations) return std::nullopt;
  return first_steps_;
}

}  // namespace shoal::cli
