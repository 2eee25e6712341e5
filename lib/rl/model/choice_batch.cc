// SPDX-License-Identifier: Apache-2.0
#include "rl/model/choice_batch.h"

#include <ATen/ops/logsumexp.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <vector>

#include "rl/model/action_values.h"

namespace shoal::model {
namespace {

std::uint8_t CodeOf(Choice choice) { return static_cast<std::uint8_t>(choice); }

at::Tensor At(const at::Tensor& logits, const at::Tensor& action) {
  return logits.gather(1, action.unsqueeze(1)).squeeze(1);
}

// Inverts the cumulative distribution in the order of the actions, [R].
at::Tensor Sample(const at::Tensor& logits, const at::Tensor& draw, const at::Tensor& greedy) {
  const at::Tensor weights = logits.sub(logits.amax({1}, /*keepdim=*/true)).exp();
  const at::Tensor cumulative = weights.cumsum(1, at::kDouble);
  const std::int64_t last = logits.size(1) - 1;
  const at::Tensor target = cumulative.select(1, last).mul(draw).unsqueeze(1);
  const at::Tensor action =
      at::searchsorted(cumulative, target, /*out_int32=*/false, /*right=*/true)
          .squeeze(1)
          .clamp_max(last);
  // Rounding may lead past the last action of a positive probability.
  return at::where(At(weights, action).gt(0), action, greedy);
}

}  // namespace

ChoiceBatch::ChoiceBatch(const PolicyInputs& inputs, std::span<const std::int64_t> rows,
                         DeviceBatch& arrays, std::int64_t padded)
    : rows_(std::max(static_cast<std::int64_t>(rows.size()), padded)) {
  std::vector<std::uint8_t> choices;
  std::vector<double> draws;
  std::vector<double> epsilons;
  std::vector<std::int64_t> forced_actions;
  for (const std::int64_t row : rows) {
    const auto r = static_cast<std::size_t>(row);
    const Choice choice = inputs.choice[r];
    choices.push_back(CodeOf(choice));
    draws.push_back(inputs.draw[r]);
    epsilons.push_back(choice == Choice::kEpsilonGreedy ? inputs.epsilon[r] : 1.0);
    forced_actions.push_back(choice == Choice::kForced ? inputs.forced_action[r] : 0);
    any_samples_ = any_samples_ || choice == Choice::kSample;
    any_explores_ = any_explores_ || choice == Choice::kUniform || choice == Choice::kEpsilonGreedy;
    any_forced_ = any_forced_ || choice == Choice::kForced;
  }
  choices.resize(static_cast<std::size_t>(rows_), CodeOf(Choice::kValueOnly));
  epsilons.resize(static_cast<std::size_t>(rows_), 1.0);
  choice_ = arrays.Add(choices);
  draw_ = arrays.Add(draws, rows_);
  epsilon_ = arrays.Add(epsilons);
  forced_action_ = arrays.Add(forced_actions, rows_);
}

ChoiceBatch::Chosen ChoiceBatch::Of(const DeviceBatch& arrays, const at::Tensor& logits) const {
  const at::Tensor choice = arrays.Get(choice_, {rows_});
  const auto chooses_by = [&choice](Choice kind) { return choice.eq(CodeOf(kind)); };
  const at::Tensor draw = arrays.Get(draw_, {rows_});
  const at::Tensor greedy = logits.argmax(1);
  at::Tensor action = greedy;
  if (any_samples_) {
    action = at::where(chooses_by(Choice::kSample), Sample(logits, draw, greedy), action);
  }
  if (any_forced_) {
    action = at::where(chooses_by(Choice::kForced), arrays.Get(forced_action_, {rows_}), action);
  }
  at::Tensor log_probability = At(logits, action).sub(at::logsumexp(logits, {1}));
  at::Tensor nothing = chooses_by(Choice::kValueOnly);
  if (any_explores_) {
    const at::Tensor explores =
        chooses_by(Choice::kUniform).logical_or(chooses_by(Choice::kEpsilonGreedy));
    const at::Tensor epsilon = arrays.Get(epsilon_, {rows_});
    const at::Tensor legal = logits.gt(kSurelyIllegalLogit).cumsum(1, at::kLong);
    const at::Tensor count = legal.select(1, legal.size(1) - 1);
    // The place among the legal actions, from 1.
    const at::Tensor place =
        draw.div(epsilon).mul(count).to(at::kLong).add(1).minimum(count).unsqueeze(1);
    const at::Tensor random =
        at::searchsorted(legal, place).squeeze(1).clamp_max(logits.size(1) - 1);
    const at::Tensor taken = at::where(draw.lt(epsilon), random, greedy);
    const at::Tensor share = epsilon.div(count.clamp_min(1));
    const at::Tensor odds = share.add(taken.eq(greedy).mul(epsilon.neg().add(1)));
    action = at::where(explores, taken, action);
    log_probability = at::where(explores, odds.log().to(at::kFloat), log_probability);
    nothing = nothing.logical_or(explores.logical_and(count.eq(0)));
  }
  return {.action = action.masked_fill(nothing, -1),
          .log_probability = log_probability.masked_fill(nothing, 0.0)};
}

}  // namespace shoal::model
