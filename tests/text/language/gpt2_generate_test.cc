// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/text/language/small_gpt2.h"
#include "text/language/gpt2.h"

namespace shoal::language {
namespace {

using Ids = std::vector<std::int32_t>;
using End = Generated::End;

const Gpt2& SmallModel() {
  static const auto model = Gpt2::Create(SmallGpt2(), nullptr, {}).value();
  return *model;
}

Generated Generate(const Ids& prompt, const GenerateOptions& options) {
  return SmallModel().Generate(prompt, options).value();
}

// Computes what Generate promises by running the whole sequence again for each token.
Ids RunAgainEachTime(Ids sequence, const GenerateOptions& options) {
  const auto vocabulary = static_cast<std::size_t>(SmallModel().config().vocabulary_size);
  runtime::Random random(options.seed);
  TokenMask mask(SmallModel().config().vocabulary_size);
  mask.AllowAll();
  Ids tokens;
  while (static_cast<std::int64_t>(tokens.size()) < options.max_tokens) {
    TokenBatch batch;
    batch.Append(sequence);
    const runtime::Tensor logits = SmallModel().Logits(batch).value();
    const auto last = logits.values<float>().last(vocabulary);
    const std::int64_t id = ChooseToken(last, mask, options.sampler, random);
    tokens.push_back(static_cast<std::int32_t>(id));
    sequence.push_back(tokens.back());
  }
  return tokens;
}

TEST_CASE("keys and values kept give the tokens that running everything again gives") {
  for (const double temperature : {0.0, 1.0}) {
    for (const std::size_t length : {1, 2, 9}) {
      GenerateOptions options{.sampler = {.temperature = temperature}, .seed = 3};
      options.max_tokens = 20;
      const Ids kept = Generate(SomeIds(length), options).tokens;
      REQUIRE(kept == RunAgainEachTime(SomeIds(length), options));
    }
  }
}

TEST_CASE("greedy generation takes the most probable token of the logits each time") {
  Ids sequence = SomeIds(5);
  const Ids tokens = Generate(sequence, {.max_tokens = 6}).tokens;
  for (const std::int32_t token : tokens) {
    TokenBatch batch;
    batch.Append(sequence);
    const runtime::Tensor logits = SmallModel().Logits(batch).value();
    const auto last = logits.values<float>().last(50);
    REQUIRE(std::max_element(last.begin(), last.end()) - last.begin() == token);
    sequence.push_back(token);
  }
}

TEST_CASE("draws are a function of the seed") {
  GenerateOptions options{.sampler = {.temperature = 1}, .seed = 1};
  options.max_tokens = 25;
  const Ids one = Generate(SomeIds(3), options).tokens;
  REQUIRE(one == Generate(SomeIds(3), options).tokens);
  options.seed = 2;
  REQUIRE(one != Generate(SomeIds(3), options).tokens);
}

TEST_CASE("generation ends at a stop token, at the model's last position or at the number asked") {
  const Ids prompt = SomeIds(5);
  const Ids free = Generate(prompt, {.max_tokens = 10}).tokens;
  const Generated stopped = Generate(prompt, {.max_tokens = 10, .stop_tokens = {free[4]}});
  const auto first = std::find(free.begin(), free.end(), free[4]);
  REQUIRE(stopped.end == End::kStopToken);
  REQUIRE(stopped.tokens == Ids(free.begin(), first));
  const Generated full = Generate(prompt, {.max_tokens = 1000});
  REQUIRE(full.end == End::kPositions);
  REQUIRE(full.tokens.size() == 27);
  REQUIRE(Generate(prompt, {.max_tokens = 0}).tokens.empty());
  REQUIRE(Generate(prompt, {.max_tokens = 3}).end == End::kMaxTokens);
}

TEST_CASE("a filter says which tokens may come, whatever is more probable") {
  const Ids prompt = SomeIds(5);
  const Ids wanted = {31, 7, 44, 7};
  std::vector<Ids> seen;
  GenerateOptions options;
  options.filter = [&](std::span<const std::int32_t> sequence, TokenMask& mask) {
    seen.emplace_back(sequence.begin(), sequence.end());
    mask.ForbidAll();
    const std::size_t made = sequence.size() - prompt.size();
    if (made < wanted.size()) mask.Allow(wanted[made]);
  };
  const Generated generated = Generate(prompt, options);
  REQUIRE(generated.tokens == wanted);
  REQUIRE(generated.end == End::kNothingAllowed);
  REQUIRE(seen.front() == prompt);
  REQUIRE(seen.size() == wanted.size() + 1);

  options.sampler.temperature = 1;
  options.filter = [](std::span<const std::int32_t>, TokenMask& mask) {
    for (std::int32_t id = 0; id < 50; id += 2) mask.Forbid(id);
  };
  for (const std::int32_t token : Generate(prompt, options).tokens) REQUIRE(token % 2 == 1);
}

TEST_CASE("prompts and options that do not fit are refused") {
  const auto status = [](const Ids& prompt, const GenerateOptions& options) {
    return SmallModel().Generate(prompt, options).status();
  };
  REQUIRE(absl::IsInvalidArgument(status({}, {})));
  REQUIRE(absl::IsInvalidArgument(status({50}, {})));
  REQUIRE(absl::IsInvalidArgument(status(SomeIds(33), {})));
  REQUIRE(absl::IsInvalidArgument(status({1}, {.max_tokens = -1})));
  REQUIRE(absl::IsInvalidArgument(status({1}, {.sampler = {.temperature = -1}})));
}

}  // namespace
}  // namespace shoal::language
