// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/target_estimation.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rl/algorithms/algorithm.h"

namespace shoal::algorithms {
namespace {

Targets PolicyTargets(const TrainingBatch& batch, PolicyGradient& trained) {
  const bool current_policy = batch.algorithm.requirements().current_policy;
  CurrentPolicy current;
  if (current_policy) current = trained.Evaluate(batch.batch, batch.tensors);
  const PolicyView view = current_policy ? current.view() : BehaviourView(batch.batch);
  return batch.algorithm.policy()->Estimate(batch.batch, view);
}

std::vector<std::int64_t> ActionsOfAllRows(const UnrollBatch& batch) {
  return RecordedActions(batch, AllRows(static_cast<std::int64_t>(batch.value.size())));
}

std::vector<float> MeanTargets(const TrainingBatch& batch, const TargetNetworks& networks) {
  const ActionValueAlgorithm& algorithm = *batch.algorithm.action_values();
  std::vector<std::int64_t> preferred;
  if (algorithm.double_q()) {
    preferred = networks.trained.EvaluateActionValues(batch.batch, batch.tensors, {}).greedy_action;
  }
  const ActionValueRowsOfBatch values =
      networks.target->EvaluateActionValues(batch.batch, batch.tensors, preferred);
  if (!algorithm.retrace()) return algorithm.Estimate(batch.batch, {.value = values.value});
  const ActionValueRowsOfBatch recorded = networks.target->EvaluateActionValues(
      batch.batch, batch.tensors, ActionsOfAllRows(batch.batch));
  return algorithm.Estimate(
      batch.batch, {.value = values.value,
                    .preferred_action = algorithm.double_q() ? preferred : values.greedy_action,
                    .recorded_value = recorded.value});
}

// Sets the quantiles of the targets, their means, and the fractions at which those of the rows are
// trained.
void SetQuantileTargets(const TrainingBatch& batch, const TargetNetworks& networks,
                        const StepDraws& draws, Targets& targets) {
  const ActionValueAlgorithm& algorithm = *batch.algorithm.action_values();
  const UnrollBatch& unrolls = batch.batch;
  const QuantileCounts counts = algorithm.quantiles();
  const std::int64_t rows = unrolls.length * unrolls.columns;
  const std::int64_t all_rows = rows + unrolls.columns;
  PolicyGradient& judge = algorithm.double_q() ? networks.trained : *networks.target;
  const std::vector<std::int64_t> preferred =
      judge.EvaluateActionValues(unrolls, batch.tensors, {}).greedy_action;
  const std::vector<float> quantiles = networks.target->EvaluateQuantiles(
      unrolls, batch.tensors, preferred,
      draws.Uniform("fractions of targets", all_rows * counts.target));
  const auto per_row = static_cast<std::size_t>(counts.target);
  targets.value.resize(static_cast<std::size_t>(rows));
  targets.quantile.resize(targets.value.size() * per_row);
  std::vector<float> of_rows(static_cast<std::size_t>(all_rows));
  for (std::size_t m = 0; m < per_row; ++m) {
    for (std::size_t row = 0; row < of_rows.size(); ++row) {
      of_rows[row] = quantiles[row * per_row + m];
    }
    const std::vector<float> estimate = algorithm.Estimate(unrolls, {.value = of_rows});
    for (std::size_t row = 0; row < estimate.size(); ++row) {
      targets.quantile[row * per_row + m] = estimate[row];
      targets.value[row] += estimate[row] / static_cast<float>(per_row);
    }
  }
  targets.fraction = draws.Uniform("fractions of rows", rows * counts.trained);
}

// Sets the targets of both values. Both have the same target policy, and each its own rewards.
void SetSplitTargets(const TrainingBatch& batch, const TargetNetworks& networks, Targets& targets) {
  const ActionValueAlgorithm& algorithm = *batch.algorithm.action_values();
  const UnrollBatch& unrolls = batch.batch;
  const std::int64_t rows = (unrolls.length + 1) * unrolls.columns;
  const SplitValueGradient& judge = algorithm.double_q() ? *networks.split : *networks.split_target;
  const std::vector<std::int64_t> preferred = judge.PreferredActions(batch.tensors, rows);
  const SplitValuesOfBatch values = networks.split_target->Evaluate(batch.tensors, preferred);
  SplitValuesOfBatch recorded;
  if (algorithm.retrace()) {
    recorded = networks.split_target->Evaluate(batch.tensors, ActionsOfAllRows(unrolls));
  }
  targets.value = algorithm.Estimate(unrolls, {.value = values.extrinsic,
                                               .preferred_action = preferred,
                                               .recorded_value = recorded.extrinsic});
  UnrollBatch novelty = unrolls;
  novelty.reward = IntrinsicRewards(unrolls);
  targets.intrinsic = algorithm.Estimate(novelty, {.value = values.intrinsic,
                                                   .preferred_action = preferred,
                                                   .recorded_value = recorded.intrinsic});
}

Targets ActionValueTargetsOf(const TrainingBatch& batch, const TargetNetworks& networks,
                             const StepDraws& draws) {
  Targets targets;
  if (networks.split != nullptr) {
    SetSplitTargets(batch, networks, targets);
  } else if (batch.algorithm.action_values()->quantiles().trained > 0) {
    SetQuantileTargets(batch, networks, draws, targets);
  } else {
    targets.value = MeanTargets(batch, networks);
  }
  // The advantage, which statistics alone use, is the part of the target that the behaviour
  // policy's value left unexplained.
  for (std::size_t row = 0; row < targets.value.size(); ++row) {
    targets.advantage.push_back(targets.value[row] - batch.batch.value[row]);
  }
  return targets;
}

Targets SoftTargets(const TrainingBatch& batch, SoftGradient& soft, const model::PolicySpec& spec,
                    const StepDraws& draws) {
  const std::int64_t rows = (batch.batch.length + 1) * batch.batch.columns;
  const at::Tensor noise =
      draws.Noise("noise of targets", rows, spec, batch.tensors.weight.device());
  const SoftRowsOfBatch soft_rows = soft.Evaluate(batch.tensors, rows, noise);
  std::vector<float> target = batch.algorithm.soft()->Estimate(
      batch.batch, {.value = soft_rows.value, .entropy_bonus = soft_rows.entropy_bonus});
  // No value was stated when the rows were played, so all of a target is new.
  return {.advantage = target, .value = target};
}

}  // namespace

Targets EstimateTargets(const TrainingBatch& batch, const TargetNetworks& networks,
                        const model::PolicySpec& spec, const StepDraws& draws) {
  if (batch.algorithm.policy() != nullptr) return PolicyTargets(batch, networks.trained);
  if (networks.soft != nullptr) return SoftTargets(batch, *networks.soft, spec, draws);
  return ActionValueTargetsOf(batch, networks, draws);
}

}  // namespace shoal::algorithms
