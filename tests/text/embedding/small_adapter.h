// SPDX-License-Identifier: Apache-2.0
// An adapter with random maps for an encoder.
#pragma once

#include <cstdint>
#include <string>

#include "platform/runtime/random.h"
#include "text/embedding/adapter.h"
#include "text/lexical/text_encoder.h"

namespace shoal::embedding {

inline AffineMap RandomMap(std::int64_t base_size, std::int64_t size, std::uint64_t seed) {
  runtime::Random random(seed, 1);
  AffineMap map;
  for (std::int64_t i = 0; i < base_size * size; ++i) {
    map.weights.push_back(static_cast<float>(random.Normal()));
  }
  for (std::int64_t i = 0; i < size; ++i) {
    map.bias.push_back(static_cast<float>(0.1 * random.Normal()));
  }
  return map;
}

inline AdapterParameters SmallAdapter(const tokens::TextEncoder& base, std::int64_t size = 8,
                                      std::uint64_t seed = 1) {
  return {.base = "lexical",
          .base_version = base.version(),
          .base_size = base.dimension(),
          .size = size,
          .base_share = 0.25,
          .captures = {"dmtf-catfish", "dmtf-mpf"},
          .sentences = RandomMap(base.dimension(), size, seed),
          .requests = RandomMap(base.dimension(), size, seed + 1)};
}

}  // namespace shoal::embedding
