// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/inverse_dynamics.h"

#include <algorithm>
#include <cmath>

namespace shoal::actor {

InverseDynamics::InverseDynamics(const Options& options)
    : options_(options),
      encoder_({.inputs = options.size, .hidden = options.hidden, .outputs = options.embedding}, 1,
               runtime::Random(options.seed, 0)),
      episode_encoder_(encoder_),
      classifier_(
          {.inputs = 2 * options.embedding, .hidden = options.hidden, .outputs = options.actions},
          1 / std::sqrt(2 * static_cast<double>(options.embedding)),
          runtime::Random(options.seed, 1)),
      draws_(options.seed, 2),
      pair_change_(2 * options.embedding) {}

std::span<const float> InverseDynamics::Embed(std::span<const float> observation) {
  episode_encoder_.Evaluate(observation, embedded_);
  return embedded_.outputs;
}

std::vector<float> InverseDynamics::Probabilities(std::span<const float> before,
                                                  std::span<const float> after) {
  encoder_.Evaluate(before, before_);
  encoder_.Evaluate(after, after_);
  pair_ = before_.outputs;
  pair_.insert(pair_.end(), after_.outputs.begin(), after_.outputs.end());
  classifier_.Evaluate(pair_, classified_);
  std::vector<float> probabilities = classified_.outputs;
  const float greatest = *std::max_element(probabilities.begin(), probabilities.end());
  float sum = 0;
  for (float& x : probabilities) sum += x = std::exp(x - greatest);
  for (float& x : probabilities) x /= sum;
  return probabilities;
}

void InverseDynamics::Learn(std::span<const float> before, std::size_t action,
                            std::span<const float> after) {
  Remembered transition = {.before = {before.begin(), before.end()},
                           .after = {after.begin(), after.end()},
                           .action = action};
  if (memory_.size() < options_.memory) {
    memory_.push_back(std::move(transition));
  } else {
    memory_[next_] = std::move(transition);
    next_ = (next_ + 1) % memory_.size();
  }
  for (std::size_t i = 0; i < options_.minibatch; ++i) {
    Train(memory_[static_cast<std::size_t>(draws_.Below(memory_.size()))]);
  }
}

void InverseDynamics::Train(const Remembered& transition) {
  std::vector<float> change = Probabilities(transition.before, transition.after);
  for (float& x : change) x = -x;
  change[transition.action] += 1;
  const double length = RectifiedNetwork::SquaredLength(transition.before, before_) +
                        RectifiedNetwork::SquaredLength(transition.after, after_) +
                        RectifiedNetwork::SquaredLength(pair_, classified_);
  if (!std::isfinite(length)) return;
  classifier_.Propagate(change, classified_);
  classifier_.PropagateToInput(classified_, pair_change_);
  const auto of_before = std::span(pair_change_).first(options_.embedding);
  const auto of_after = std::span(pair_change_).last(options_.embedding);
  encoder_.Propagate(of_before, before_);
  encoder_.Propagate(of_after, after_);
  const auto step = static_cast<float>(options_.rate / length);
  classifier_.Step(pair_, classified_, change, step);
  encoder_.Step(transition.before, before_, of_before, step);
  encoder_.Step(transition.after, after_, of_after, step);
}

}  // namespace shoal::actor
