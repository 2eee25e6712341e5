// SPDX-License-Identifier: Apache-2.0
// Numbered rows for an EmbeddingFile, and what a test asks of such a file.
#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/runtime/random.h"
#include "text/embedding/embedding_file.h"

namespace shoal::embedding {

inline constexpr std::size_t kDimension = 64;

// The keys and vectors of the numbers [first, first + count).
struct Rows {
  Rows(std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t number = first; number < first + count; ++number) {
      keys.push_back(content::KeyOf("text " + std::to_string(number)));
      runtime::Random random(number, 3);
      for (std::size_t i = 0; i < kDimension; ++i) {
        values.push_back(static_cast<std::uint16_t>(random.Below(65536)));
      }
    }
  }
  bool Holds(std::size_t row, const Embedding& embedding) const {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(row * kDimension);
    return *embedding == std::vector<std::uint16_t>(begin, begin + kDimension);
  }

  std::vector<content::ContentKey> keys;
  std::vector<std::uint16_t> values;
};

inline std::unique_ptr<EmbeddingFile> OpenAt(const std::string& path,
                                             std::int64_t max_bytes = std::int64_t{1} << 24,
                                             const runtime::Clock& clock = runtime::SystemClock()) {
  auto file = EmbeddingFile::Open({.path = path, .max_bytes = max_bytes}, nullptr, clock);
  INFO(file.status().ToString());
  REQUIRE(file.ok());
  return *std::move(file);
}

inline void Put(EmbeddingFile& file, const Rows& rows, const std::string& version = "v") {
  file.Insert(version, kDimension, rows.keys, rows.values);
}

// Returns how many rows are found, and REQUIREs that they are the ones that were put.
inline std::size_t CountFound(EmbeddingFile& file, const Rows& rows,
                              const std::string& version = "v") {
  const auto found = file.Find(version, kDimension, rows.keys);
  REQUIRE(found.size() == rows.keys.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == nullptr) continue;
    REQUIRE(rows.Holds(i, found[i]));
    ++count;
  }
  return count;
}

}  // namespace shoal::embedding
