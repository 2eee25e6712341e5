// SPDX-License-Identifier: Apache-2.0
// A cache of response bodies: for each body its canonical text and key, and the URIs of the
// resources that it shows.
//
// Most answers repeat. The cache finds a body by a 128-bit hash of its raw bytes without ETags, or
// a parsed body by a hash of its value, so each body is parsed, canonicalised and hashed only once.
// Not thread-safe: each loop has its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "actor/environments/generation_cache.h"
#include "inference/client/row.h"
#include "platform/content/value_bytes.h"

namespace shoal::actor {

struct BodyText {
  inference::client::ContentReference content = {};
  // Canonical URI of the resource in the body, or empty when the body is no resource.
  std::string uri = "";
  // The URIs of the members when the body is a collection.
  std::vector<std::string> members = {};
};

class BodyTexts {
 public:
  using Pointer = std::shared_ptr<const BodyText>;

  explicit BodyTexts(std::size_t capacity_bytes) : texts_(capacity_bytes) {}

  // Returns the entry of `body`, never null. A body that is no JSON, or nests deeper than
  // content::kMaximumNesting, is treated as one JSON string. `parsed` is the body as a value if the
  // caller has it.
  Pointer Read(std::string_view body, const nlohmann::json* parsed = nullptr);
  // The same for a parsed body. REQUIRES: `body` nests no deeper than that.
  Pointer ReadParsed(const nlohmann::json& body);

  std::size_t size() const { return texts_.size(); }

 private:
  using Hash = std::pair<std::uint64_t, std::uint64_t>;

  GenerationCache<Hash, Pointer> texts_;
  const content::ValueBytes bytes_of_ = content::ValueBytes();
  // The bytes that are hashed, kept so that their memory is reused.
  std::string bytes_;
};

}  // namespace shoal::actor
