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
#include "redfish/uri.h"

namespace shoal::actor {
namespace {

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

BodyTexts::Pointer Understand(const json& body, std::string text) {
  auto understood = std::make_shared<BodyText>();
  const content::ContentKey key = content::KeyOf(text);
  understood->content = {.key = key, .text = std::make_shared<const std::string>(std::move(text))};
  if (body.is_object()) {
    understood->uri = redfish::LinkTarget(body);
    understood->members = redfish::MemberUris(body);
  }
  return understood;
}

}  // namespace

template <typename Make>
BodyTexts::Pointer BodyTexts::Keep(Hash hash, const Make& make) {
  if (const auto it = young_.find(hash); it != young_.end()) return it->second;
  Pointer text;
  if (const auto it = old_.find(hash); it != old_.end()) {
    text = std::move(it->second);
    old_.erase(it);
  } else {
    text = make();
  }
  if (young_.size() >= (capacity_ + 1) / 2) {
    old_ = std::move(young_);
    young_.clear();
  }
  young_.emplace(hash, text);
  return text;
}

BodyTexts::Pointer BodyTexts::Read(std::string_view body, const json* parsed) {
  static const auto kNone = std::make_shared<const BodyText>();
  if (body.empty()) return kNone;
  return Keep(HashOf(body, kRaw), [&] {
    if (parsed != nullptr) return Understand(*parsed, CanonicalText(*parsed));
    json value = content::ParseJson(body);
    if (value.is_discarded()) value = std::string(body);
    return Understand(value, CanonicalText(value));
  });
}

BodyTexts::Pointer BodyTexts::ReadParsed(const json& body) {
  std::string text = CanonicalText(body);
  return Keep(HashOf(text, kCanonical), [&] { return Understand(body, std::move(text)); });
}

}  // namespace shoal::actor
