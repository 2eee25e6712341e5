// SPDX-License-Identifier: Apache-2.0
#include "text/language/sampler.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace shoal::language {
namespace {

using Logits = std::vector<float>;

constexpr int kDraws = 20'000;

// Returns how often each id comes in kDraws samples.
std::vector<double> Frequencies(const Logits& logits, const TokenMask& mask,
                                const SamplerOptions& options) {
  runtime::Random random(1);
  std::vector<double> counts(logits.size());
  for (int i = 0; i < kDraws; ++i) {
    counts[static_cast<std::size_t>(ChooseToken(logits, mask, options, random))] += 1.0 / kDraws;
  }
  return counts;
}

// Logits of the probabilities 0.1, 0.4, 0.2 and 0.3.
const Logits kLogits = {std::log(0.1F), std::log(0.4F), std::log(0.2F), std::log(0.3F)};

void RequireClose(const std::vector<double>& found, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    REQUIRE(found[i] == Approx(expected[i]).margin(0.015));
    if (expected[i] == 0) REQUIRE(found[i] == 0);
  }
}

TEST_CASE("greedy takes the most probable token, the lowest id among equals") {
  runtime::Random random(1);
  const TokenMask all(4);
  REQUIRE(ChooseToken(kLogits, all, {}, random) == 1);
  REQUIRE(ChooseToken(Logits{1, 2, 2, 2}, all, {}, random) == 1);
  REQUIRE(random() == runtime::Random(1)());
}

TEST_CASE("a temperature of one draws by the model's probabilities") {
  RequireClose(Frequencies(kLogits, TokenMask(4), {.temperature = 1}), {0.1, 0.4, 0.2, 0.3});
}

TEST_CASE("a low temperature sharpens") {
  // These are the squares of the probabilities, normalised.
  RequireClose(Frequencies(kLogits, TokenMask(4), {.temperature = 0.5}),
               {0.01 / 0.3, 0.16 / 0.3, 0.04 / 0.3, 0.09 / 0.3});
}

TEST_CASE("top-k draws among the k most probable and what ties with the last") {
  RequireClose(Frequencies(kLogits, TokenMask(4), {.temperature = 1, .top_k = 2}),
               {0, 4.0 / 7, 0, 3.0 / 7});
  RequireClose(Frequencies(Logits{1, 1, 1, 0}, TokenMask(4), {.temperature = 1, .top_k = 2}),
               {1.0 / 3, 1.0 / 3, 1.0 / 3, 0});
  RequireClose(Frequencies(kLogits, TokenMask(4), {.temperature = 1, .top_k = 9}),
               {0.1, 0.4, 0.2, 0.3});
}

TEST_CASE("top-p draws among the fewest that reach p") {
  RequireClose(Frequencies(kLogits, TokenMask(4), {.temperature = 1, .top_p = 0.65}),
               {0, 4.0 / 7, 0, 3.0 / 7});
  RequireClose(Frequencies(kLogits, TokenMask(4), {.temperature = 1, .top_p = 0}), {0, 1, 0, 0});
  // In what top-k has left, the most probable token has 4/7, which exceeds one half.
  RequireClose(Frequencies(kLogits, TokenMask(4), {.temperature = 1, .top_k = 2, .top_p = 0.5}),
               {0, 1, 0, 0});
}

TEST_CASE("what the mask forbids and what is no number never comes") {
  TokenMask mask(4);
  mask.Forbid(1);
  RequireClose(Frequencies(kLogits, mask, {.temperature = 1}), {0.1 / 0.6, 0, 0.2 / 0.6, 0.5});
  runtime::Random random(1);
  REQUIRE(ChooseToken(kLogits, mask, {}, random) == 3);
  const Logits broken = {std::numeric_limits<float>::quiet_NaN(), 1, 2,
                         std::numeric_limits<float>::infinity()};
  REQUIRE(ChooseToken(broken, mask, {}, random) == 2);
  mask.ForbidAll();
  REQUIRE(ChooseToken(kLogits, mask, {.temperature = 1}, random) == -1);
  mask.Allow(0);
  mask.Allow(77);
  mask.Forbid(-1);
  REQUIRE(ChooseToken(kLogits, mask, {.temperature = 1}, random) == 0);
}

TEST_CASE("options out of range are refused by name") {
  const auto error = [](const SamplerOptions& options) {
    return std::string(options.Validate().message());
  };
  REQUIRE(error({}).empty());
  REQUIRE(error({.temperature = -1}).find("temperature") != std::string::npos);
  REQUIRE(error({.temperature = NAN}).find("temperature") != std::string::npos);
  REQUIRE(error({.top_k = -1}).find("top_k") != std::string::npos);
  REQUIRE(error({.top_p = 1.5}).find("top_p") != std::string::npos);
  REQUIRE(error({.top_p = NAN}).find("top_p") != std::string::npos);
}

}  // namespace
}  // namespace shoal::language
