// SPDX-License-Identifier: Apache-2.0
// A small state encoder, and made-up hidden states to train it on.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "platform/runtime/random.h"
#include "text/language/state_folder.h"
#include "text/language/state_trainer.h"

namespace shoal::language {

inline StateConfig SmallStateConfig() {
  return {.base = "gpt2:tiny",
          .base_version = "gpt2-0",
          .width = 8,
          .channels = 12,
          .kernel = 3,
          .layers = 2,
          .latent = 6};
}

inline StateParameters SmallStateParameters(std::uint64_t seed = 1) {
  StateParameters parameters{SmallStateConfig(), {}};
  const auto layout = PoolingLayout(parameters.config);
  parameters.flat.resize(static_cast<std::size_t>(layout.total));
  layout.Initialise(seed, parameters.flat);
  return parameters;
}

// Texts of these lengths with random states around an offset.
inline HiddenTexts SomeHiddenTexts(const std::vector<std::int64_t>& lengths,
                                   std::uint64_t seed = 1) {
  HiddenTexts texts;
  std::vector<float> values;
  runtime::Random random(seed, 3);
  for (const std::int64_t length : lengths) {
    texts.starts.push_back(texts.starts.back() + length);
    for (std::int64_t i = 0; i < 8 * length; ++i) {
      values.push_back(static_cast<float>(2 + random.Normal()));
    }
  }
  texts.states = runtime::Tensor::Of<float>({texts.starts.back(), 8}, values);
  return texts;
}

// Views of four states. Each has a segment of its own kind, whose states lie around a point that
// belongs to the kind, in two noisy versions, and one segment that all views share.
inline StateBatch SomeStateBatch(std::uint64_t number) {
  runtime::Random random(7, number);
  constexpr std::int64_t kKinds = 4;
  StateBatch batch;
  std::vector<float> values;
  const auto add = [&](std::int64_t kind, std::int64_t length) {
    runtime::Random point(9, static_cast<std::uint64_t>(kind));
    float centre[8];
    for (float& x : centre) x = static_cast<float>(1 + point.Normal());
    for (std::int64_t row = 0; row < length; ++row) {
      for (const float x : centre) values.push_back(x + static_cast<float>(random.Normal()));
    }
    batch.segments.starts.push_back(batch.segments.starts.back() + length);
  };
  add(kKinds, 9);
  for (std::int64_t view = 0; view < 2 * kKinds; ++view) {
    add(view / 2, 5 + view % 3);
    batch.uses.push_back({0, 1.0F});
    batch.uses.push_back({view + 1, 2.0F});
    batch.ends.push_back(batch.uses.size());
    batch.partners.push_back(view % 2 == 0 ? view + 1 : view - 1);
  }
  batch.segments.states = runtime::Tensor::Of<float>({batch.segments.starts.back(), 8}, values);
  return batch;
}

}  // namespace shoal::language
