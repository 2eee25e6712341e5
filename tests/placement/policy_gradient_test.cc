// SPDX-License-Identifier: Apache-2.0
#include "placement/policy_gradient.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "small_graphs.h"

namespace shoal::placement {
namespace {

std::vector<Sample> DrawSamples(const ChoiceDistribution& distribution, runtime::Random& random,
                                std::size_t count) {
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < count; ++i) {
    samples.push_back({.choices = distribution.Draw(random), .reward = random.Normal()});
  }
  return samples;
}

ChoiceDistribution Moved(ChoiceDistribution distribution, std::size_t logit, double by) {
  std::vector<double> change(distribution.probabilities().size());
  change[logit] = by;
  distribution.Move(change);
  return distribution;
}

// The objective in policy_gradient.h, term by term.
double Objective(const std::vector<Sample>& samples, const ChoiceDistribution& now,
                 const ChoiceDistribution& drawn_from, double penalty) {
  double mean = 0;
  double squares = 0;
  for (const Sample& sample : samples) {
    mean += sample.reward / static_cast<double>(samples.size());
    squares += sample.reward * sample.reward / static_cast<double>(samples.size());
  }
  double sum = 0;
  for (std::size_t group = 0; group < now.groups(); ++group) {
    for (const Sample& sample : samples) {
      const std::size_t choice = sample.choices[group];
      sum += (sample.reward - mean) / std::sqrt(squares - mean * mean) *
             now.Probability(group, choice) / drawn_from.Probability(group, choice) /
             static_cast<double>(samples.size());
    }
    for (std::size_t choice = 0; choice < now.choices(); ++choice) {
      const double before = drawn_from.Probability(group, choice);
      sum -= penalty * before * std::log(before / now.Probability(group, choice));
    }
  }
  return sum;
}

double LogRatio(const ChoiceDistribution& distribution, std::size_t group, std::size_t choice) {
  return std::log(distribution.Probability(group, choice) / distribution.Probability(group, 0));
}

TEST_CASE("each proximal step goes along the gradient of its objective, by finite differences") {
  constexpr double kStep = 1e-5;
  constexpr double kPenalty = 0.7;
  runtime::Random random(5);
  for (int i = 0; i < 10; ++i) {
    ChoiceDistribution start(3, 4);
    start.SetProbabilities({.1, .2, .3, .4, .25, .25, .25, .25, .7, .1, .1, .1});
    const std::vector<Sample> samples = DrawSamples(start, random, 8);
    ChoiceDistribution once = start;
    Proximal{.steps = 1, .learning_rate = 0.5, .penalty = kPenalty}.Learn(samples, once);
    ChoiceDistribution twice = start;
    Proximal{.steps = 2, .learning_rate = 0.5, .penalty = kPenalty}.Learn(samples, twice);
    for (const auto& [before, after] : {std::pair(start, once), std::pair(once, twice)}) {
      const auto slope = [&, from = &before](std::size_t logit) {
        return (Objective(samples, Moved(*from, logit, kStep), start, kPenalty) -
                Objective(samples, Moved(*from, logit, -kStep), start, kPenalty)) /
               (2 * kStep);
      };
      for (std::size_t group = 0; group < 3; ++group) {
        for (std::size_t choice = 1; choice < 4; ++choice) {
          REQUIRE(LogRatio(after, group, choice) - LogRatio(before, group, choice) ==
                  Approx(0.5 * (slope(group * 4 + choice) - slope(group * 4))).margin(1e-7));
        }
      }
    }
  }
}

TEST_CASE("proximal steps raise the objective, and a heavier penalty keeps them nearer") {
  runtime::Random random(8);
  const ChoiceDistribution start(4, 3);
  const std::vector<Sample> samples = DrawSamples(start, random, 30);
  std::vector<double> divergence;
  for (const double penalty : {0.1, 10.0}) {
    ChoiceDistribution moved = start;
    Proximal{.steps = 50, .learning_rate = 0.1, .penalty = penalty}.Learn(samples, moved);
    REQUIRE(Objective(samples, moved, start, penalty) > 0);
    divergence.push_back(
        (Objective(samples, moved, start, 0) - Objective(samples, moved, start, penalty)) /
        penalty);
  }
  REQUIRE(divergence[1] < divergence[0] / 2);
}

TEST_CASE("samples that were all equally good teach proximal steps nothing") {
  runtime::Random random(2);
  ChoiceDistribution distribution(2, 3);
  std::vector<Sample> samples = DrawSamples(distribution, random, 5);
  for (Sample& sample : samples) sample.reward = -0.3;
  Proximal{}.Learn(samples, distribution);
  REQUIRE(distribution.LogProbability({0, 1}) == Approx(2 * std::log(1.0 / 3)));
}

TEST_CASE("one draw of what is next to impossible does not decide a group") {
  ChoiceDistribution distribution(1, 2);
  distribution.Move(std::vector<double>{30, 0});
  const std::vector<Sample> samples = {{.choices = {0}, .reward = -2},
                                       {.choices = {1}, .reward = -1}};
  Proximal{.steps = 10, .learning_rate = 1, .penalty = 0}.Learn(samples, distribution);
  REQUIRE(distribution.Probability(0, 1) < 1e-6);
  REQUIRE(distribution.Probability(0, 1) > 0);
}

TEST_CASE("REINFORCE's first step is Adam's, along the sign of the gradient") {
  ChoiceDistribution distribution(1, 2);
  const std::vector<Sample> samples = {{.choices = {0}, .reward = -1},
                                       {.choices = {1}, .reward = -3}};
  Reinforce(0.1).Learn(samples, distribution);
  REQUIRE(LogRatio(distribution, 0, 1) == Approx(-0.2));
}

TEST_CASE("REINFORCE holds a batch against the moving average of those before it") {
  ChoiceDistribution distribution(1, 2);
  Reinforce reinforce(0.1);
  reinforce.Learn(std::vector<Sample>{{.choices = {0}, .reward = -1}}, distribution);
  REQUIRE(LogRatio(distribution, 0, 1) == 0);
  reinforce.Learn(std::vector<Sample>{{.choices = {1}, .reward = -3}}, distribution);
  REQUIRE(LogRatio(distribution, 0, 1) < 0);
}

}  // namespace
}  // namespace shoal::placement
