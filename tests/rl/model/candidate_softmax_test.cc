// SPDX-License-Identifier: Apache-2.0
#include "rl/model/candidate_softmax.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "platform/runtime/random.h"
#include "rl/model/candidate_table.h"

namespace shoal::model {
namespace {

std::vector<float> Logits(std::size_t size, double deviation, std::uint64_t seed) {
  runtime::Random random(seed);
  std::vector<float> logits;
  for (std::size_t i = 0; i < size; ++i) {
    logits.push_back(static_cast<float>(deviation * random.Normal()));
  }
  return logits;
}

// Computes the softmax in double precision by its definition.
std::vector<double> Probabilities(const std::vector<float>& logits) {
  const double maximum = *std::max_element(logits.begin(), logits.end());
  std::vector<double> p;
  double sum = 0;
  for (const double x : logits) {
    p.push_back(std::exp(x - maximum));
    sum += p.back();
  }
  for (double& value : p) value /= sum;
  return p;
}

TEST_CASE("Log-probabilities and the entropy of a row are those of softmax") {
  for (const std::size_t size : {1U, 7U, 16U, 1001U}) {
    for (const double deviation : {0.1, 3.0, 40.0}) {
      const std::vector<float> logits = Logits(size, deviation, size);
      const std::vector<double> p = Probabilities(logits);
      const SoftmaxRow row = Summarise(logits);
      double entropy = 0;
      for (std::size_t i = 0; i < size; ++i) {
        if (p[i] > 0) entropy -= p[i] * std::log(p[i]);
        if (p[i] > 1e-30) {
          REQUIRE(row.LogProbability(logits[i]) ==
                  Approx(std::log(p[i])).epsilon(1e-5).margin(1e-5));
        }
      }
      REQUIRE(row.Entropy() == Approx(entropy).epsilon(1e-4).margin(1e-5));
    }
  }
}

TEST_CASE("An illegal candidate has the weight and the gradient 0, exactly") {
  std::vector<float> logits = Logits(33, 2, 1);
  logits[5] = kIllegalLogit;
  const SoftmaxRow row = Summarise(logits);
  std::vector<float> weights(logits.size());
  Exponentials(logits, row.maximum, weights);
  REQUIRE(weights[5] == 0);
  REQUIRE(std::isfinite(row.weighted));
  SoftmaxGradient(logits, row.maximum, 0.5F, 2.0F);
  REQUIRE(logits[5] == 0);
}

TEST_CASE("Weights and the gradient of a row follow their formulas") {
  const std::vector<float> logits = Logits(257, 4, 3);
  const SoftmaxRow row = Summarise(logits);
  std::vector<float> weights(logits.size());
  Exponentials(logits, row.maximum, weights);
  std::vector<float> gradient = logits;
  SoftmaxGradient(gradient, row.maximum, 0.25F, -1.5F);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const double x = static_cast<double>(logits[i]) - row.maximum;
    REQUIRE(weights[i] == Approx(std::exp(x)).epsilon(1e-6));
    REQUIRE(gradient[i] == Approx(std::exp(x) * (0.25 - 1.5 * x)).epsilon(1e-5).margin(1e-12));
  }
}

TEST_CASE("Similarity is added by one factor and one constant, and Dot is the inner product") {
  std::vector<float> logits = Logits(19, 1, 5);
  const std::vector<float> before = logits;
  const std::vector<float> cosine = Logits(19, 1, 6);
  AddSimilarity(logits, cosine, 3.0F, -0.5F);
  double dot = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    REQUIRE(logits[i] == Approx(before[i] + 3.0F * cosine[i] - 0.5F).margin(1e-6));
    dot += static_cast<double>(before[i]) * cosine[i];
  }
  REQUIRE(Dot(before, cosine) == Approx(dot).margin(1e-5));
}

}  // namespace
}  // namespace shoal::model
