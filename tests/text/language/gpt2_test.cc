// SPDX-License-Identifier: Apache-2.0
#include "text/language/gpt2.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/text/language/small_gpt2.h"

namespace shoal::language {
namespace {

std::unique_ptr<Gpt2> Model(const Gpt2Options& options = {}) {
  return Gpt2::Create(SmallGpt2(), nullptr, options).value();
}

double Difference(std::span<const float> a, std::span<const float> b) {
  REQUIRE(a.size() == b.size());
  double greatest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    greatest = std::max(greatest, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return greatest;
}

TokenBatch Unequal() {
  TokenBatch batch;
  std::uint64_t seed = 0;
  for (const std::size_t length : {7, 1, 32, 2, 19, 32, 5}) batch.Append(SomeIds(length, ++seed));
  return batch;
}

TEST_CASE("a packed batch is what its sequences are one by one") {
  const auto model = Model();
  const TokenBatch batch = Unequal();
  const runtime::Tensor packed = model->Logits(batch).value();
  for (std::int64_t s = 0; s < batch.sequences(); ++s) {
    const runtime::Tensor alone = model->Logits(batch.Slice(s, s + 1)).value();
    const auto begin = static_cast<std::size_t>(batch.starts[static_cast<std::size_t>(s)]) * 50;
    REQUIRE(Difference(alone.values<float>(), packed.values<float>().subspan(begin, alone.size())) <
            1e-5);
  }
}

TEST_CASE("slices change nothing but the order of the work") {
  const TokenBatch batch = Unequal();
  const runtime::Tensor whole = Model()->HiddenStates(batch, -1).value();
  for (const std::int64_t tokens : {1, 33, 40}) {
    const auto model = Model({.slice_tokens = tokens});
    REQUIRE(Difference(whole.values<float>(),
                       model->HiddenStates(batch, -1).value().values<float>()) < 1e-5);
  }
}

TEST_CASE("later tokens do not change earlier ones") {
  const auto model = Model();
  TokenBatch batch;
  batch.Append(SomeIds(20));
  const runtime::Tensor before = model->Logits(batch).value();
  batch.ids[12] = (batch.ids[12] + 1) % 50;
  const runtime::Tensor after = model->Logits(batch).value();
  REQUIRE(Difference(before.values<float>().first(12 * 50), after.values<float>().first(12 * 50)) ==
          0);
  REQUIRE(Difference(before.values<float>().subspan(12 * 50, 50),
                     after.values<float>().subspan(12 * 50, 50)) > 1e-3);
}

TEST_CASE("a token that is not attended to changes no other") {
  const auto model = Model();
  TokenBatch batch = Unequal();
  batch.attended.assign(batch.ids.size(), 1);
  const runtime::Tensor all = model->Logits(batch).value();
  REQUIRE(Difference(all.values<float>(), model->Logits(Unequal()).value().values<float>()) < 1e-5);
  batch.attended[9] = 0;
  const runtime::Tensor before = model->Logits(batch).value();
  batch.ids[9] = (batch.ids[9] + 1) % 50;
  const runtime::Tensor after = model->Logits(batch).value();
  for (std::size_t t = 0; t < batch.ids.size(); ++t) {
    const double difference = Difference(before.values<float>().subspan(t * 50, 50),
                                         after.values<float>().subspan(t * 50, 50));
    if (t == 9) {
      REQUIRE(difference > 1e-3);
    } else {
      REQUIRE(difference == 0);
    }
  }
}

TEST_CASE("embeddings are means of hidden states, or the last of them") {
  const auto model = Model({.slice_tokens = 33});
  const TokenBatch batch = Unequal();
  const std::vector<TokenRange> ranges = {{42, 45}, {0, 7}, {7, 8}};
  for (const std::int64_t layer : {-1, 0, 2}) {
    const runtime::Tensor hidden = model->HiddenStates(batch, layer).value();
    const runtime::Tensor means = model->Embed(batch, ranges, {.layer = layer}).value();
    const runtime::Tensor lasts =
        model->Embed(batch, ranges, {.layer = layer, .pooling = EmbedOptions::Pooling::kLast})
            .value();
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      for (std::size_t d = 0; d < 16; ++d) {
        double mean = 0;
        for (std::int64_t t = ranges[r].begin; t < ranges[r].end; ++t) {
          mean += hidden.values<float>()[static_cast<std::size_t>(t) * 16 + d] /
                  static_cast<double>(ranges[r].end - ranges[r].begin);
        }
        const auto last = static_cast<std::size_t>(ranges[r].end - 1);
        REQUIRE(means.values<float>()[r * 16 + d] == Approx(mean).margin(1e-5));
        REQUIRE(lasts.values<float>()[r * 16 + d] == hidden.values<float>()[last * 16 + d]);
      }
    }
  }
}

TEST_CASE("ranges, layers, batches, options and devices that do not fit are refused") {
  const auto model = Model();
  const TokenBatch batch = Unequal();
  for (const TokenRange& bad : {TokenRange{3, 3}, TokenRange{-1, 2}, TokenRange{5, 9},
                                TokenRange{97, 99}, TokenRange{98, 99}}) {
    REQUIRE(absl::IsInvalidArgument(model->Embed(batch, std::span(&bad, 1), {}).status()));
  }
  REQUIRE(absl::IsInvalidArgument(model->HiddenStates(batch, 4).status()));
  REQUIRE(absl::IsInvalidArgument(model->HiddenStates(batch, -2).status()));
  TokenBatch outside;
  outside.Append(std::vector<std::int32_t>{50});
  REQUIRE(absl::IsInvalidArgument(model->Logits(outside).status()));
  const Gpt2Parameters parameters = SmallGpt2();
  const auto status = [&](const Gpt2Options& options) {
    return Gpt2::Create(parameters, nullptr, options).status();
  };
  REQUIRE(absl::IsInvalidArgument(status({.device = "tpu"})));
  REQUIRE(absl::IsInvalidArgument(status({.device = "cuda:x"})));
  REQUIRE(absl::IsInvalidArgument(status({.slice_tokens = 0})));
  REQUIRE(absl::IsInvalidArgument(status({.precision = runtime::DType::kInt8})));
  Gpt2Parameters cut = parameters;
  cut.flat.pop_back();
  REQUIRE(absl::IsInvalidArgument(Gpt2::Create(cut, nullptr, {}).status()));
}

TEST_CASE("an empty batch has no rows") {
  const runtime::Tensor none = Model()->HiddenStates(TokenBatch(), -1).value();
  REQUIRE(none.shape() == runtime::Shape{0, 16});
}

TEST_CASE("bfloat16 is near float32") {
  const TokenBatch batch = Unequal();
  const runtime::Tensor full = Model()->HiddenStates(batch, -1).value();
  const auto half = Model({.precision = runtime::DType::kBFloat16});
  const double difference =
      Difference(full.values<float>(), half->HiddenStates(batch, -1).value().values<float>());
  REQUIRE(difference < 0.1);
  REQUIRE(difference > 0);
  REQUIRE(half->Generate(SomeIds(4), {.max_tokens = 5})->tokens.size() == 5);
}

TEST_CASE("an adapted model is the model with the adapter merged") {
  const Gpt2Parameters parameters = SmallGpt2();
  const LoraOptions all{
      .rank = 3, .alpha = 2, .layers = {"attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"}};
  LoraParameters adapter = InitialLora(parameters.config, all, 5).value();
  const TokenBatch batch = Unequal();
  const runtime::Tensor plain = Model()->Logits(batch).value();
  const auto logits = [&] {
    return Gpt2::Create(parameters, &adapter, {}).value()->Logits(batch).value();
  };
  // A new adapter changes nothing.
  REQUIRE(Difference(logits().values<float>(), plain.values<float>()) == 0);
  runtime::Random random(9);
  for (float& x : adapter.flat) x += static_cast<float>(0.1 * random.Normal());
  const runtime::Tensor adapted = logits();
  REQUIRE(Difference(adapted.values<float>(), plain.values<float>()) > 1e-2);
  Gpt2Parameters merged = parameters;
  MergeLora(adapter, merged);
  const auto model = Gpt2::Create(merged, nullptr, {}).value();
  REQUIRE(Difference(model->Logits(batch).value().values<float>(), adapted.values<float>()) < 1e-4);
}

}  // namespace
}  // namespace shoal::language
