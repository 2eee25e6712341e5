// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/policy_loss.h"

#include <ATen/ops/clamp.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <limits>

namespace shoal::algorithms {

at::Tensor ImportanceWeights(const PolicyRows& rows) {
  return rows.log_probability.sub(rows.behaviour_log_probability).clamp_(-20, 20).exp_();
}

PolicyTerms ClippedLoss(const PolicyRows& rows, const RatioClip& clip) {
  const at::Tensor ratio = ImportanceWeights(rows);
  const at::Tensor negative = rows.advantage.lt(0);
  constexpr double kNoBound = std::numeric_limits<double>::infinity();
  const double near = clip.near > 0 ? clip.near : kNoBound;
  const double far = clip.far > 0 ? clip.far : kNoBound;
  const at::Tensor counted =
      at::where(negative, ratio.clamp(1 - near, far), ratio.clamp(0, 1 + near));
  PolicyTerms terms;
  terms.loss = counted.mul(rows.advantage).neg_();
  terms.by_log_probability = terms.loss.mul(counted.eq(ratio));
  terms.by_entropy = at::zeros_like(terms.loss);
  terms.metrics = {ratio.sub(1).abs_().gt(near).to(at::kDouble)};
  return terms;
}

PolicyTerms LogProbabilityLoss(const PolicyRows& rows, double floor) {
  PolicyTerms terms;
  if (floor > 0) {
    const at::Tensor probability = rows.log_probability.exp();
    const at::Tensor floored = probability.add(floor);
    terms.loss = floored.log().mul_(rows.advantage).neg_();
    terms.by_log_probability = probability.div(floored).mul_(rows.advantage).neg_();
  } else {
    terms.loss = rows.log_probability.mul(rows.advantage).neg_();
    terms.by_log_probability = rows.advantage.neg();
  }
  terms.by_entropy = at::zeros_like(terms.loss);
  return terms;
}

void AddEntropyBonus(const PolicyRows& rows, PolicyTerms& terms) {
  terms.loss = terms.loss.sub(rows.entropy, rows.weights.entropy);
  terms.by_entropy = terms.by_entropy.sub(rows.weights.entropy);
}

void AddKlPenalty(const PolicyRows& rows, PolicyTerms& terms) {
  const at::Tensor ratio = ImportanceWeights(rows);
  const at::Tensor above_one = ratio.sub(1);
  terms.loss = terms.loss.add(above_one.sub(ratio.log()), rows.weights.kl);
  terms.by_log_probability = terms.by_log_probability.add(above_one, rows.weights.kl);
}

ValueTerms SquaredLoss(const ValueRows& rows, double coefficient, double clip) {
  const at::Tensor error = rows.value.sub(rows.target);
  ValueTerms terms{.loss = error.square().mul_(coefficient / 2),
                   .by_value = error.mul(coefficient)};
  if (clip <= 0) return terms;
  const at::Tensor held = at::minimum(at::maximum(rows.value, rows.behaviour_value.sub(clip)),
                                      rows.behaviour_value.add(clip));
  const at::Tensor held_error = held.sub(rows.target);
  const at::Tensor held_loss = held_error.square().mul_(coefficient / 2);
  const at::Tensor larger = held_loss.gt(terms.loss);
  terms.by_value =
      at::where(larger, held_error.mul(held.eq(rows.value)).mul_(coefficient), terms.by_value);
  terms.loss = at::maximum(held_loss, terms.loss);
  return terms;
}

}  // namespace shoal::algorithms
