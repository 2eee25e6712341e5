// SPDX-License-Identifier: Apache-2.0
// Canonical texts and keys of response bodies, and the resources that they show, each made once.
//
// Most answers repeat: the cache finds them by a 128-bit hash of the raw bytes without ETags, so
// that a body is parsed, canonicalised and hashed at its first sight alone; one that comes parsed
// is found by a hash of its value. Not thread-safe: one a loop.
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
  // Canonical URI of the resource that the body is; empty when it is none.
  std::string uri = "";
  // Of a collection, the URIs of its members.
  std::vector<std::string> members = {};
};

class BodyTexts {
 public:
  using Pointer = std::shared_ptr<const BodyText>;

  explicit BodyTexts(std::size_t capacity_bytes) : texts_(capacity_bytes) {}

  // What is no JSON, or nests deeper than content::kMaximumNesting, is taken as one JSON string.
  // `parsed` is the body as a value, where the caller has it. Never null.
  Pointer Read(std::string_view body, const nlohmann::json* parsed = nullptr);
  // `body` nests no deeper than that.
  Pointer ReadParsed(const nlohmann::json& body);

  std::size_t size() const { return texts_.size(); }

 private:
  using Hash = std::pair<std::uint64_t, std::uint64_t>;

  GenerationCache<Hash, Pointer> texts_;
  const content::ValueBytes bytes_of_ = content::ValueBytes();
  // What is hashed; its room is used again.
  std::string bytes_;
};

}  // namespace shoal::actor
