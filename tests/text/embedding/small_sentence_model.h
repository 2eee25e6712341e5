// SPDX-License-Identifier: Apache-2.0
// A folder with a BERT that is small enough to run in a moment, and a tokenizer that fits it.
#pragma once

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "platform/runtime/atomic_file.h"
#include "tests/text/wordpiece/small_word_piece.h"

namespace shoal::embedding {

inline constexpr std::int64_t kSmallSentenceWidth = 32;

// Copies the model of tests/text/language/golden, which transformers wrote.
inline void WriteSmallSentenceModel(const std::string& folder) {
  const std::string from = "tests/text/language/golden/bert/";
  std::filesystem::create_directories(folder);
  for (const char* file : {"config.json", "model.safetensors"}) {
    std::filesystem::copy_file(from + file, folder + "/" + file,
                               std::filesystem::copy_options::overwrite_existing);
  }
  REQUIRE(
      runtime::WriteFileAtomically(folder + "/tokenizer.json", tokens::SmallWordPieceJson().dump())
          .ok());
}

}  // namespace shoal::embedding
