// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/inverse_dynamics.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "platform/runtime/random.h"

namespace shoal::actor {
namespace {

// A ring of cells on which an agent goes back, stays or goes on, and numbers beside it that are
// drawn anew in each step.
class NoisyCircle {
 public:
  static constexpr std::size_t kCells = 8;
  static constexpr std::size_t kNoise = 4;
  static constexpr std::size_t kSize = kCells + kNoise;
  static constexpr std::size_t kActions = 3;

  explicit NoisyCircle(std::uint64_t seed) : random_(seed) {}

  std::size_t AnyAction() { return static_cast<std::size_t>(random_.Below(kActions)); }
  void Act(std::size_t action) { cell_ = (cell_ + kCells + action - 1) % kCells; }
  std::vector<float> Observe() { return Observation(cell_); }
  std::vector<float> Observation(std::size_t cell) {
    std::vector<float> observation(kSize);
    observation[cell] = 1;
    for (std::size_t i = kCells; i < kSize; ++i) {
      observation[i] = static_cast<float>(random_.Normal());
    }
    return observation;
  }

 private:
  runtime::Random random_;
  std::size_t cell_ = 0;
};

InverseDynamics::Options OfRing(std::uint64_t seed) {
  return {
      .size = NoisyCircle::kSize, .actions = NoisyCircle::kActions, .embedding = 8, .seed = seed};
}

void Wander(NoisyCircle& ring, int steps, InverseDynamics& dynamics) {
  std::vector<float> before = ring.Observe();
  for (int step = 0; step < steps; ++step) {
    const std::size_t action = ring.AnyAction();
    ring.Act(action);
    std::vector<float> after = ring.Observe();
    dynamics.Learn(before, action, after);
    before = std::move(after);
  }
  dynamics.BeginEpisode();
}

double SquaredDistance(const std::vector<float>& a, std::span<const float> b) {
  double squared = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    squared += difference * difference;
  }
  return squared;
}

// The squared distance of embeddings in one cell, whose noise differs, as a share of that in two
// neighbouring cells.
double ShareOfNoise(NoisyCircle& ring, InverseDynamics& dynamics) {
  double here = 0;
  double there = 0;
  for (std::size_t i = 0; i < 800; ++i) {
    const std::size_t cell = i % NoisyCircle::kCells;
    const auto embedded = dynamics.Embed(ring.Observation(cell));
    const std::vector<float> embedding(embedded.begin(), embedded.end());
    here += SquaredDistance(embedding, dynamics.Embed(ring.Observation(cell)));
    const std::size_t next = (cell + 1) % NoisyCircle::kCells;
    there += SquaredDistance(embedding, dynamics.Embed(ring.Observation(next)));
  }
  return here / there;
}

using Numbers = std::vector<double>;

// What a network of one hidden layer makes of an input, read off its formula.
Numbers Outputs(std::span<const double> parameters, const Numbers& input, std::size_t hidden,
                std::size_t outputs) {
  const std::size_t bias = input.size() * hidden;
  Numbers units(hidden);
  for (std::size_t h = 0; h < hidden; ++h) {
    units[h] = parameters[bias + h];
    for (std::size_t i = 0; i < input.size(); ++i)
      units[h] += parameters[i * hidden + h] * input[i];
    units[h] = std::max(units[h], 0.0);
  }
  Numbers result(outputs);
  for (std::size_t o = 0; o < outputs; ++o) {
    for (std::size_t h = 0; h < hidden; ++h) {
      result[o] += parameters[bias + hidden + o * hidden + h] * units[h];
    }
  }
  return result;
}

// The cross-entropy of an action. The parameters are those of encoder and classifier, one after the
// other.
double Loss(const InverseDynamics::Options& options, const Numbers& parameters,
            const Numbers& before, std::size_t action, const Numbers& after) {
  const std::size_t encoder = options.hidden * (options.size + 1 + options.embedding);
  const auto of_encoder = std::span(parameters).first(encoder);
  Numbers pair = Outputs(of_encoder, before, options.hidden, options.embedding);
  const Numbers second = Outputs(of_encoder, after, options.hidden, options.embedding);
  pair.insert(pair.end(), second.begin(), second.end());
  const Numbers logits =
      Outputs(std::span(parameters).subspan(encoder), pair, options.hidden, options.actions);
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  return std::log(sum) - logits[action];
}

Numbers ParametersOf(const InverseDynamics& dynamics) {
  const auto encoder = dynamics.encoder().parameters();
  const auto classifier = dynamics.classifier().parameters();
  Numbers parameters(encoder.begin(), encoder.end());
  parameters.insert(parameters.end(), classifier.begin(), classifier.end());
  return parameters;
}

TEST_CASE("A step goes down the gradient that finite differences of the cross-entropy give") {
  const InverseDynamics::Options options = {.size = 3,
                                            .actions = 4,
                                            .embedding = 2,
                                            .hidden = 5,
                                            .rate = 0.01,
                                            .minibatch = 1,
                                            .memory = 1,
                                            .seed = 5};
  const std::vector<float> before = {0.5F, -1, 0};
  const std::vector<float> after = {0.25F, 0.75F, -0.5F};
  const Numbers before_numbers(before.begin(), before.end());
  const Numbers after_numbers(after.begin(), after.end());
  for (std::size_t action = 0; action < options.actions; ++action) {
    InverseDynamics dynamics(options);
    Numbers parameters = ParametersOf(dynamics);
    dynamics.Learn(before, action, after);
    const Numbers stepped = ParametersOf(dynamics);
    Numbers gradient;
    for (double& parameter : parameters) {
      const double at = parameter;
      parameter = at + 1e-6;
      const double above = Loss(options, parameters, before_numbers, action, after_numbers);
      parameter = at - 1e-6;
      const double below = Loss(options, parameters, before_numbers, action, after_numbers);
      parameter = at;
      gradient.push_back((above - below) / 2e-6);
    }
    // The step's length is its own matter, and is the same for all parameters.
    double along = 0;
    double squares = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      along += (parameters[i] - stepped[i]) * gradient[i];
      squares += gradient[i] * gradient[i];
    }
    const double step = along / squares;
    REQUIRE(step > 1e-4);
    REQUIRE(step < options.rate);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      REQUIRE((parameters[i] - stepped[i]) / step == Approx(gradient[i]).margin(1e-3));
    }
  }
}

TEST_CASE("Embeddings learn what an agent can influence, and lose what it cannot") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    NoisyCircle ring(seed);
    InverseDynamics dynamics(OfRing(seed));
    const double before = ShareOfNoise(ring, dynamics);
    Wander(ring, 10'000, dynamics);
    int told = 0;
    for (int step = 0; step < 1000; ++step) {
      const std::vector<float> from = ring.Observe();
      const std::size_t action = ring.AnyAction();
      ring.Act(action);
      const std::vector<float> probability = dynamics.Probabilities(from, ring.Observe());
      const auto likeliest = std::max_element(probability.begin(), probability.end());
      if (likeliest == probability.begin() + static_cast<std::ptrdiff_t>(action)) ++told;
    }
    // A guess is right in 333 steps.
    REQUIRE(told > 900);
    REQUIRE(ShareOfNoise(ring, dynamics) < before / 3);
  }
}

TEST_CASE("Within an episode an observation keeps its embedding, whatever is learned") {
  NoisyCircle ring(1);
  InverseDynamics dynamics(OfRing(1));
  const std::vector<float> observation = ring.Observe();
  const auto embedding = [&] {
    const auto embedded = dynamics.Embed(observation);
    return std::vector<float>(embedded.begin(), embedded.end());
  };
  const std::vector<float> first = embedding();
  for (int step = 0; step < 20; ++step) dynamics.Learn(observation, 1, ring.Observe());
  REQUIRE(embedding() == first);
  dynamics.BeginEpisode();
  REQUIRE(embedding() != first);
}

TEST_CASE("Parameters are a function of the seed and of what was seen") {
  const auto learned = [](std::uint64_t seed, std::uint64_t world, int steps) {
    NoisyCircle ring(world);
    InverseDynamics dynamics(OfRing(seed));
    Wander(ring, steps, dynamics);
    return ParametersOf(dynamics);
  };
  REQUIRE(learned(1, 1, 300) == learned(1, 1, 300));
  REQUIRE(learned(1, 1, 300) != learned(2, 1, 300));
  REQUIRE(learned(1, 1, 300) != learned(1, 2, 300));
  REQUIRE(learned(1, 1, 300) != learned(1, 1, 301));
}

TEST_CASE("Transitions that cannot be computed with train nothing") {
  NoisyCircle ring(1);
  InverseDynamics dynamics(OfRing(1));
  const Numbers before = ParametersOf(dynamics);
  const std::vector<float> observation = ring.Observe();
  for (const float number :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity(), 1e38F}) {
    std::vector<float> other = observation;
    other[0] = number;
    dynamics.Learn(observation, 0, other);
    dynamics.Learn(other, 0, observation);
  }
  REQUIRE(ParametersOf(dynamics) == before);
}

}  // namespace
}  // namespace shoal::actor
