// SPDX-License-Identifier: Apache-2.0
#include "actor/body_texts.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "content/canonical_json.h"
#include "content/content_key.h"
#include "content/parse_json.h"

namespace shoal::actor {
namespace {

using inference::client::ContentReference;
using nlohmann::json;

// Hashes of raw bytes and of canonical texts are apart.
constexpr XXH64_hash_t kRaw = 0;
constexpr XXH64_hash_t kCanonical = 1;

std::pair<std::uint64_t, std::uint64_t> HashOf(std::string_view text, XXH64_hash_t kind) {
  const XXH128_hash_t digest = XXH3_128bits_withSeed(text.data(), text.size(), kind);
  return {digest.low64, digest.high64};
}

std::string CanonicalText(const json& body) {
  return content::CanonicalJson(body, content::DefaultVolatileNames());
}

ContentReference Reference(std::string text) {
  const content::ContentKey key = content::KeyOf(text);
  return {.key = key, .text = std::make_shared<const std::string>(std::move(text))};
}

}  // namespace

template <typename Make>
ContentReference BodyTexts::Keep(Hash hash, const Make& make) {
  if (const auto it = young_.find(hash); it != young_.end()) return it->second;
  ContentReference content;
  if (const auto it = old_.find(hash); it != old_.end()) {
    content = std::move(it->second);
    old_.erase(it);
  } else {
    content = make();
  }
  if (young_.size() >= (capacity_ + 1) / 2) {
    old_ = std::move(young_);
    young_.clear();
  }
  young_.emplace(hash, content);
  return content;
}

ContentReference BodyTexts::Canonical(std::string_view body, const json* parsed) {
  if (body.empty()) return {};
  return Keep(HashOf(body, kRaw), [&] {
    if (parsed != nullptr) return Reference(CanonicalText(*parsed));
    json value = content::ParseJson(body);
    if (value.is_discarded()) value = std::string(body);
    return Reference(CanonicalText(value));
  });
}

ContentReference BodyTexts::CanonicalParsed(const json& body) {
  std::string text = CanonicalText(body);
  return Keep(HashOf(text, kCanonical), [&] { return Reference(std::move(text)); });
}

}  // namespace shoal::actor
