// SPDX-License-Identifier: Apache-2.0
// Canonical texts and keys of response bodies, and the resources that they show, each made once.
//
// Most answers repeat: the cache finds them by a 128-bit hash of the raw bytes, so that a body is
// parsed, canonicalised and hashed at its first sight alone; one that comes parsed is found by a
// hash of its canonical text. Not thread-safe: one a loop. When full, the older half of what was
// used least recently goes.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/client/row.h"

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

  // `capacity` at least 1, in bodies.
  explicit BodyTexts(std::size_t capacity = 16384) : capacity_(capacity) {}

  // What is no JSON, or nests deeper than content::kMaximumNesting, is taken as one JSON string.
  // `parsed` is the body as a value, where the caller has it. Never null.
  Pointer Read(std::string_view body, const nlohmann::json* parsed = nullptr);
  // `body` nests no deeper than that.
  Pointer ReadParsed(const nlohmann::json& body);

  std::size_t size() const { return young_.size() + old_.size(); }

 private:
  using Hash = std::pair<std::uint64_t, std::uint64_t>;
  using Generation = absl::flat_hash_map<Hash, Pointer>;

  // What is kept under `hash`, else what `make` makes, and it is kept.
  template <typename Make>
  Pointer Keep(Hash hash, const Make& make);

  const std::size_t capacity_;
  // Used since the last change of generations, and before.
  Generation young_;
  Generation old_;
};

}  // namespace shoal::actor
