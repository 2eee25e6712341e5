// SPDX-License-Identifier: Apache-2.0
// A folder with a language model that is small enough to run in a moment, and a tokenizer that fits
// it.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "platform/runtime/random.h"
#include "tests/text/bpe/tokenizers.h"
#include "text/language/gpt2_folder.h"

namespace shoal::embedding {

inline constexpr std::int64_t kSmallWidth = 16;

inline const tokens::TokenizerPointer& SmallTokenizer() {
  static const tokens::TokenizerPointer kTokenizer =
      tokens::TrainedOn({"set the asset tag of the system, reset the manager of the system"},
                        {.vocabulary_size = 280, .minimum_count = 1});
  return kTokenizer;
}

inline language::Gpt2Parameters SmallParameters(std::uint64_t seed = 1) {
  const language::Gpt2Config config{.vocabulary_size = 280,
                                    .positions = 24,
                                    .width = kSmallWidth,
                                    .layers = 2,
                                    .heads = 2,
                                    .begin_token = 0,
                                    .end_token = 0};
  language::Gpt2Parameters parameters = language::InitialGpt2(config, seed).value();
  runtime::Random random(seed, 1);
  for (float& x : parameters.flat) x += static_cast<float>(0.2 * random.Normal());
  return parameters;
}

inline void WriteSmallModel(const std::string& folder, std::uint64_t seed = 1) {
  const language::Gpt2Parameters parameters = SmallParameters(seed);
  REQUIRE(language::WriteGpt2Folder(folder, parameters.config, parameters.flat).ok());
  REQUIRE(tokens::SaveTokenizer(*SmallTokenizer(), folder + "/tokenizer.json").ok());
}

}  // namespace shoal::embedding
