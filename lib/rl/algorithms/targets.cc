// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/targets.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "rl/estimators/generalised_advantages.h"
#include "rl/estimators/retrace.h"
#include "rl/estimators/returns.h"

namespace shoal::algorithms {

namespace {

// One column, cut to its length.
struct Column {
  std::vector<float> log_ratio;
  std::vector<float> reward;
  std::vector<float> value;
  std::vector<float> discount;
  std::vector<float> trace;
};

std::size_t LengthOf(const UnrollBatch& batch, std::size_t column) {
  return static_cast<std::size_t>(batch.lengths.empty() ? batch.length : batch.lengths[column]);
}

// Returns whether the row was truncated and its final observation was lost.
bool IsLost(const UnrollBatch& batch, std::size_t row) {
  const std::uint8_t next = batch.flags[row + static_cast<std::size_t>(batch.columns)];
  return (batch.flags[row] & kTruncated) != 0 && (next & kFinal) == 0;
}

Column Cut(const UnrollBatch& batch, const PolicyView& view, std::size_t column,
           const TargetOptions& options) {
  const auto columns = static_cast<std::size_t>(batch.columns);
  const std::size_t length = LengthOf(batch, column);
  const auto scale = static_cast<float>(options.reward_scale);
  Column cut;
  for (std::size_t t = 0; t < length; ++t) {
    const std::size_t row = t * columns + column;
    const std::uint8_t flags = batch.flags[row];
    const bool lost = IsLost(batch, row);
    const bool ends = (flags & (kTerminated | kTruncated | kFinal)) != 0;
    const bool bootstraps = (flags & kTerminated) == 0 && !lost;
    const bool acts = (flags & kFinal) == 0 && batch.weight[row] > 0;
    cut.log_ratio.push_back(acts ? view.log_probability[row] - batch.behaviour_log_probability[row]
                                 : 0.0F);
    cut.value.push_back(view.value[row]);
    // For a lost row, this reward makes the advantage 0.
    cut.reward.push_back(lost ? view.value[row] : scale * batch.reward[row]);
    cut.discount.push_back(bootstraps ? static_cast<float>(options.gamma) : 0.0F);
    cut.trace.push_back(ends ? 0.0F : static_cast<float>(options.lambda));
  }
  cut.value.push_back(view.value[length * columns + column]);
  return cut;
}

// Calls `estimate` for each column and writes its results, [length] each, into the column's rows.
template <typename Estimate>
Targets ByColumn(const UnrollBatch& batch, const PolicyView& view, const TargetOptions& options,
                 const Estimate& estimate) {
  const auto columns = static_cast<std::size_t>(batch.columns);
  const std::size_t rows = static_cast<std::size_t>(batch.length) * columns;
  Targets targets{std::vector<float>(rows), std::vector<float>(rows)};
  for (std::size_t column = 0; column < columns; ++column) {
    const Targets of_column = estimate(Cut(batch, view, column, options));
    for (std::size_t t = 0; t < of_column.advantage.size(); ++t) {
      targets.advantage[t * columns + column] = of_column.advantage[t];
      targets.value[t * columns + column] = of_column.value[t];
    }
  }
  return targets;
}

// Gives the rows the discounts of the family's policies that acted.
void TakeMemberDiscounts(const UnrollBatch& batch, std::size_t column,
                         std::span<const double> member_gamma, Column& cut) {
  if (member_gamma.empty()) return;
  const auto columns = static_cast<std::size_t>(batch.columns);
  const auto rows = static_cast<std::size_t>(batch.length + 1) * columns;
  const std::size_t size = batch.observation.size() / rows;
  for (std::size_t t = 0; t < cut.discount.size(); ++t) {
    if (cut.discount[t] == 0) continue;
    const std::size_t end = (t * columns + column + 1) * size;
    const auto members = std::span(batch.observation).subspan(0, end).last(member_gamma.size());
    const auto greatest = std::max_element(members.begin(), members.end()) - members.begin();
    cut.discount[t] = static_cast<float>(member_gamma[static_cast<std::size_t>(greatest)]);
  }
}

estimators::ValueTransform TransformOf(const ActionValueTargetOptions& options) {
  return options.transformed ? estimators::ValueTransform::kSignedHyperbolic
                             : estimators::ValueTransform::kIdentity;
}

}  // namespace

PolicyView BehaviourView(const UnrollBatch& batch) {
  return {.log_probability = batch.behaviour_log_probability, .value = batch.value};
}

std::vector<float> RowWeights(const UnrollBatch& batch) {
  const auto columns = static_cast<std::size_t>(batch.columns);
  std::vector<float> weights(static_cast<std::size_t>(batch.length) * columns);
  for (std::size_t column = 0; column < columns; ++column) {
    for (std::size_t t = 0; t < LengthOf(batch, column); ++t) {
      const std::size_t row = t * columns + column;
      const bool counts = !IsLost(batch, row) && (batch.flags[row] & kFinal) == 0;
      weights[row] = counts ? batch.weight[row] : 0.0F;
    }
  }
  return weights;
}

std::vector<float> ColumnReturns(const UnrollBatch& batch, double reward_scale) {
  const std::vector<float> weight = RowWeights(batch);
  const auto columns = static_cast<std::size_t>(batch.columns);
  std::vector<float> returns(columns);
  for (std::size_t row = 0; row < weight.size(); ++row) {
    if (weight[row] == 0) continue;
    returns[row % columns] += static_cast<float>(reward_scale) * batch.reward[row];
  }
  return returns;
}

Targets ColumnTargets(const UnrollBatch& batch, std::span<const float> advantage) {
  const std::size_t rows = batch.reward.size();
  Targets targets{std::vector<float>(rows), std::vector<float>(rows)};
  for (std::size_t row = 0; row < rows; ++row) {
    targets.advantage[row] = advantage[row % advantage.size()];
  }
  return targets;
}

Targets GeneralisedTargets(const UnrollBatch& batch, const PolicyView& view,
                           const TargetOptions& options) {
  return ByColumn(batch, view, options, [](const Column& column) {
    Targets targets;
    targets.advantage = estimators::GeneralisedAdvantages({.reward = column.reward,
                                                           .value = column.value,
                                                           .discount = column.discount,
                                                           .trace = column.trace});
    for (std::size_t t = 0; t < targets.advantage.size(); ++t) {
      targets.value.push_back(targets.advantage[t] + column.value[t]);
    }
    return targets;
  });
}

Targets VtraceTargets(const UnrollBatch& batch, const PolicyView& view,
                      const TargetOptions& options, const estimators::VtraceOptions& clips) {
  return ByColumn(batch, view, options, [&](const Column& column) {
    estimators::VtraceEstimate estimate = estimators::Vtrace({.log_ratio = column.log_ratio,
                                                              .reward = column.reward,
                                                              .discount = column.discount,
                                                              .trace = column.trace,
                                                              .value = column.value},
                                                             clips);
    return Targets{std::move(estimate.advantage), std::move(estimate.value)};
  });
}

std::vector<float> RetraceActionValueTargets(const UnrollBatch& batch, const PreferenceView& view,
                                             double lambda,
                                             const ActionValueTargetOptions& options) {
  const auto transform = TransformOf(options);
  const PolicyView values{.log_probability = batch.behaviour_log_probability, .value = view.value};
  const auto columns = static_cast<std::size_t>(batch.columns);
  std::vector<float> targets(static_cast<std::size_t>(batch.length) * columns);
  for (std::size_t b = 0; b < columns; ++b) {
    Column column =
        Cut(batch, values, b,
            {.gamma = options.gamma, .lambda = lambda, .reward_scale = options.reward_scale});
    TakeMemberDiscounts(batch, b, options.member_gamma, column);
    const std::size_t length = column.reward.size();
    std::vector<float> recorded;
    for (std::size_t t = 0; t < length; ++t) {
      const std::size_t row = t * columns + b;
      // The preferred action has probability 1, so its ratio is at least 1.
      const bool goes_on = batch.action[row] == view.preferred_action[row] && !IsLost(batch, row);
      column.log_ratio[t] = goes_on ? 0.0F : -std::numeric_limits<float>::infinity();
      recorded.push_back(view.recorded_value[row]);
    }
    const std::vector<float> next =
        estimators::Invert(transform, std::span(column.value).subspan(1));
    const std::vector<float> of_column =
        estimators::TransformedRetraceTargets({.log_ratio = column.log_ratio,
                                               .reward = column.reward,
                                               .discount = column.discount,
                                               .trace = column.trace,
                                               .action_value = recorded,
                                               .next_value = next},
                                              transform);
    for (std::size_t t = 0; t < length; ++t) {
      const std::size_t row = t * columns + b;
      targets[row] = IsLost(batch, row) ? view.recorded_value[row] : of_column[t];
    }
  }
  return targets;
}

std::vector<float> ActionValueTargets(const UnrollBatch& batch, std::span<const float> value,
                                      const ActionValueTargetOptions& options,
                                      std::span<const float> bonus) {
  const auto transform = TransformOf(options);
  const PolicyView view{.log_probability = batch.behaviour_log_probability, .value = value};
  const auto columns = static_cast<std::size_t>(batch.columns);
  std::vector<float> targets(static_cast<std::size_t>(batch.length) * columns);
  for (std::size_t b = 0; b < columns; ++b) {
    Column column =
        Cut(batch, view, b,
            {.gamma = options.gamma, .lambda = 1, .reward_scale = options.reward_scale});
    TakeMemberDiscounts(batch, b, options.member_gamma, column);
    const std::size_t length = column.reward.size();
    for (std::size_t t = 0; t < length && !bonus.empty(); ++t) {
      column.reward[t] += column.discount[t] * bonus[(t + 1) * columns + b];
    }
    for (std::size_t t = 0; t < length; ++t) {
      // Cut gives a lost row its own value as reward, which is what the network predicts.
      if (!IsLost(batch, t * columns + b)) continue;
      column.reward[t] = static_cast<float>(estimators::Invert(transform, column.reward[t]));
    }
    const std::vector<float> of_column =
        estimators::TransformedNStepReturns({.reward = column.reward,
                                             .discount = column.discount,
                                             .trace = column.trace,
                                             .next_value = std::span(column.value).subspan(1)},
                                            static_cast<std::size_t>(options.n_step), transform);
    for (std::size_t t = 0; t < length; ++t) targets[t * columns + b] = of_column[t];
  }
  return targets;
}

}  // namespace shoal::algorithms
