// SPDX-License-Identifier: Apache-2.0
#include "actor/body_texts.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <nlohmann/json.hpp>
#include <string>

#include "content/canonical_json.h"
#include "content/content_key.h"
#include "content/nesting.h"

namespace shoal::actor {
namespace {

inference::client::ContentReference Canonicalise(std::string_view body) {
  nlohmann::json json(nlohmann::json::value_t::discarded);
  if (!content::NestsDeeperThan(body, content::kMaximumNesting)) {
    json = nlohmann::json::parse(body, nullptr, false);
  }
  if (json.is_discarded()) json = std::string(body);
  auto text = std::make_shared<const std::string>(
      content::CanonicalJson(json, content::DefaultVolatileNames()));
  const content::ContentKey key = content::KeyOf(*text);
  return {.key = key, .text = std::move(text)};
}

}  // namespace

inference::client::ContentReference BodyTexts::Canonical(std::string_view body) {
  if (body.empty()) return {};
  const XXH128_hash_t digest = XXH3_128bits(body.data(), body.size());
  const Hash hash(digest.low64, digest.high64);
  if (const auto it = young_.find(hash); it != young_.end()) return it->second;
  inference::client::ContentReference content;
  if (const auto it = old_.find(hash); it != old_.end()) {
    content = std::move(it->second);
    old_.erase(it);
  } else {
    content = Canonicalise(body);
  }
  if (young_.size() >= (capacity_ + 1) / 2) {
    old_ = std::move(young_);
    young_.clear();
  }
  young_.emplace(hash, content);
  return content;
}

}  // namespace shoal::actor
