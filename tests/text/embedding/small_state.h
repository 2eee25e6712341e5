// SPDX-License-Identifier: Apache-2.0
// A folder with a state encoder on the small model of small_encoder.h.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "platform/runtime/random.h"
#include "tests/text/embedding/small_encoder.h"
#include "text/embedding/language_states.h"
#include "text/language/state_folder.h"

namespace shoal::embedding {

inline constexpr std::int64_t kSmallLatent = 6;

// The small model must be in the folder `model`.
inline language::StateParameters SmallState(const std::string& model, std::uint64_t seed = 1) {
  const auto states = LanguageStates::OfGpt2(model, {}).value();
  language::StateParameters parameters;
  parameters.config = {.base = "gpt2:" + model,
                       .base_version = states->version(),
                       .layer = states->layer(),
                       .width = kSmallWidth,
                       .channels = 10,
                       .kernel = 3,
                       .layers = 2,
                       .latent = kSmallLatent};
  const auto layout = language::PoolingLayout(parameters.config);
  parameters.flat.resize(static_cast<std::size_t>(layout.total));
  layout.Initialise(seed, parameters.flat);
  return parameters;
}

inline void WriteSmallState(const std::string& folder, const std::string& model,
                            std::uint64_t seed = 1) {
  const language::StateParameters parameters = SmallState(model, seed);
  REQUIRE(language::WriteStateFolder(folder, parameters.config, parameters.flat).ok());
}

}  // namespace shoal::embedding
