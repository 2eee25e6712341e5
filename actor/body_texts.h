// SPDX-License-Identifier: Apache-2.0
// Canonical texts and keys of response bodies, each made once.
//
// Most answers repeat: the cache finds them by a 128-bit hash of the raw bytes, so that a body is
// parsed, canonicalised and hashed at its first sight alone. Not thread-safe: one a loop. When
// full, the older half of what was used least recently goes.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "inference/client/row.h"

namespace shoal::actor {

class BodyTexts {
 public:
  // `capacity` at least 1, in bodies.
  explicit BodyTexts(std::size_t capacity = 16384) : capacity_(capacity) {}

  // What is no JSON, or nests deeper than content::kMaximumNesting, is taken as one JSON string.
  inference::client::ContentReference Canonical(std::string_view body);

  std::size_t size() const { return young_.size() + old_.size(); }

 private:
  using Hash = std::pair<std::uint64_t, std::uint64_t>;
  using Generation = absl::flat_hash_map<Hash, inference::client::ContentReference>;

  const std::size_t capacity_;
  // Used since the last change of generations, and before.
  Generation young_;
  Generation old_;
};

}  // namespace shoal::actor
