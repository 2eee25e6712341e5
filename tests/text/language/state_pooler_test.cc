// SPDX-License-Identifier: Apache-2.0
#include "text/language/state_pooler.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numbers>

#include "tests/text/language/small_state_batch.h"

namespace shoal::language {
namespace {

using Matrix = std::vector<std::vector<double>>;  // [rows][columns]

// Computes a latent as state_network.h defines it, number by number.
class ByHand {
 public:
  explicit ByHand(const StateParameters& parameters)
      : parameters_(parameters), layout_(PoolingLayout(parameters.config)) {}

  std::vector<double> Latent(std::span<const float> states) const {
    const StateConfig& config = parameters_.config;
    const auto width = static_cast<std::size_t>(config.width);
    Matrix x(states.size() / width, std::vector<double>(width));
    for (std::size_t i = 0; i < states.size(); ++i) {
      const std::size_t at = i % width;
      x[i / width][at] =
          (static_cast<double>(states[i]) - Number(kStateMean, at)) * Number(kStateScale, at);
    }
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
      x = Convolved(x, "conv." + std::to_string(layer));
    }
    std::vector<double> pooled(2 * x[0].size());
    for (std::size_t c = 0; c < x[0].size(); ++c) {
      pooled[x[0].size() + c] = -1e9;
      for (const auto& row : x) {
        pooled[c] += row[c] / static_cast<double>(x.size());
        pooled[x[0].size() + c] = std::max(pooled[x[0].size() + c], row[c]);
      }
    }
    std::vector<double> latent(static_cast<std::size_t>(config.latent));
    double norm = 0;
    for (std::size_t i = 0; i < latent.size(); ++i) {
      latent[i] = Number("latent.bias", i);
      for (std::size_t k = 0; k < pooled.size(); ++k) {
        latent[i] += Number("latent.weight", i * pooled.size() + k) * pooled[k];
      }
      norm += latent[i] * latent[i];
    }
    for (double& value : latent) value /= std::sqrt(norm);
    return latent;
  }

 private:
  double Number(const std::string& name, std::size_t at) const {
    const auto offset = static_cast<std::size_t>(layout_.Find(name)->offset);
    return static_cast<double>(parameters_.flat[offset + at]);
  }

  Matrix Convolved(const Matrix& x, const std::string& name) const {
    const auto kernel = static_cast<std::size_t>(parameters_.config.kernel);
    const auto channels = static_cast<std::size_t>(parameters_.config.channels);
    const std::size_t in = x[0].size();
    Matrix out((x.size() + 1) / 2, std::vector<double>(channels));
    for (std::size_t t = 0; t < out.size(); ++t) {
      for (std::size_t c = 0; c < channels; ++c) {
        double sum = Number(name + ".bias", c);
        for (std::size_t k = 0; k < kernel; ++k) {
          const auto from =
              static_cast<std::int64_t>(2 * t + k) - static_cast<std::int64_t>(kernel / 2);
          if (from < 0 || from >= static_cast<std::int64_t>(x.size())) continue;
          for (std::size_t i = 0; i < in; ++i) {
            sum += Number(name + ".weight", (c * in + i) * kernel + k) *
                   x[static_cast<std::size_t>(from)][i];
          }
        }
        out[t][c] = 0.5 * sum * (1 + std::erf(sum / std::numbers::sqrt2));
      }
    }
    return out;
  }

  const StateParameters& parameters_;
  const model::ParameterLayout layout_;
};

StateParameters Varied() {
  StateParameters parameters = SmallStateParameters();
  runtime::Random random(4);
  for (float& x : parameters.flat) x += static_cast<float>(0.1 * random.Normal());
  return parameters;
}

TEST_CASE("a latent is what the layers make of the text alone, whatever it is padded with") {
  const StateParameters parameters = Varied();
  const ByHand by_hand(parameters);
  const HiddenTexts texts = SomeHiddenTexts({7, 1, 0, 33, 2, 8});
  for (const std::int64_t slice_tokens : {1, 20, 4096}) {
    const auto pooler = StatePooler::Create(parameters, {.slice_tokens = slice_tokens}).value();
    const runtime::Tensor latents = pooler->Latents(texts).value();
    REQUIRE(latents.shape() == runtime::Shape{6, 6});
    for (std::size_t text = 0; text < 6; ++text) {
      CAPTURE(slice_tokens, text);
      const auto row = latents.values<float>().subspan(6 * text, 6);
      const auto begin = static_cast<std::size_t>(8 * texts.starts[text]);
      const auto end = static_cast<std::size_t>(8 * texts.starts[text + 1]);
      std::vector<double> expected(6, 0.0);
      if (end > begin) {
        expected = by_hand.Latent(texts.states.values<float>().subspan(begin, end - begin));
      }
      for (std::size_t i = 0; i < 6; ++i) REQUIRE(row[i] == Approx(expected[i]).margin(1e-5));
    }
  }
}

TEST_CASE("hidden states that do not fit are refused, and so is a pooling of another config") {
  const auto pooler = StatePooler::Create(SmallStateParameters(), {}).value();
  HiddenTexts texts = SomeHiddenTexts({3, 2});
  texts.starts = {0, 4, 3, 5};
  REQUIRE(absl::IsInvalidArgument(pooler->Latents(texts).status()));
  texts.starts = {0, 4};
  REQUIRE(runtime::Message(pooler->Latents(texts).status()) ==
          "hidden states of shape [5, 8] are not those of 1 texts with width 8");
  REQUIRE(pooler->Latents(HiddenTexts{runtime::Tensor(runtime::DType::kFloat32, {0, 8}), {0}})
              ->shape() == runtime::Shape{0, 6});
  StateParameters other = SmallStateParameters();
  other.config.latent = 5;
  REQUIRE(absl::IsInvalidArgument(StatePooler::Create(other, {}).status()));
  REQUIRE(absl::IsInvalidArgument(
      StatePooler::Create(SmallStateParameters(), {.slice_tokens = 0}).status()));
}

TEST_CASE("a hidden state that is no finite number is an error, not a vector") {
  const auto pooler = StatePooler::Create(SmallStateParameters(), {}).value();
  HiddenTexts texts = SomeHiddenTexts({3});
  texts.states.mutable_values<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  REQUIRE(absl::IsInternal(pooler->Latents(texts).status()));
}

}  // namespace
}  // namespace shoal::language
