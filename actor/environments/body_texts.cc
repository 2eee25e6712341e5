// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/body_texts.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "platform/content/canonical_json.h"
#include "platform/content/parse_json.h"
#include "redfish/capture/uri.h"

namespace shoal::actor {
namespace {

using nlohmann::json;

// Seeds that keep hashes of raw bytes, of values, and of bodies that are no JSON apart.
constexpr XXH64_hash_t kRaw = 0;
constexpr XXH64_hash_t kValue = 1;
constexpr XXH64_hash_t kNoJson = 2;

std::pair<std::uint64_t, std::uint64_t> HashOf(std::string_view text, XXH64_hash_t kind) {
  const XXH128_hash_t digest = XXH3_128bits_withSeed(text.data(), text.size(), kind);
  return {digest.low64, digest.high64};
}

// Returns where the value of the first ETag in `text` begins, or npos when there is none. The bytes
// "@odata.etag":" with both quotes cannot occur within a string or a longer name, as quotes in
// those are escaped.
std::size_t FindETag(std::string_view text) {
  constexpr std::string_view kName = "@odata.etag\":\"";
  // The search looks for '@', which is rarer than the quote in front of it.
  std::size_t at = text.find('@');
  while (at != std::string_view::npos && !text.substr(at).starts_with(kName)) {
    at = text.find('@', at + 1);
  }
  const bool is_name = at != std::string_view::npos && at > 0 && text[at - 1] == '"' &&
                       (at == 1 || text[at - 2] != '\\');
  return is_name ? at + kName.size() : std::string_view::npos;
}

// Returns the length of an ETag's value up to its closing quote. Returns npos when there is no such
// quote, or the value holds more than printable ASCII and escaped quotes: leaving the value out
// must not change whether the body is valid JSON.
std::size_t ETagLength(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') return at;
    if (text[at] < 0x20 || text[at] > 0x7E) break;
    if (text[at] == '\\' && (++at == text.size() || text[at] != '"')) break;
  }
  return std::string_view::npos;
}

// Returns `text` without the values of its ETags, which often are the only difference between
// bodies. `storage` holds the result if there are any.
std::string_view WithoutETags(std::string_view text, std::string& storage) {
  storage.clear();
  std::string_view rest = text;
  for (std::size_t value; (value = FindETag(rest)) != std::string_view::npos;) {
    const std::size_t length = ETagLength(rest.substr(value));
    if (length == std::string_view::npos) break;
    storage.append(rest.substr(0, value));
    rest.remove_prefix(value + length);
  }
  if (storage.empty()) return text;
  storage.append(rest);
  return storage;
}

BodyTexts::Pointer Understand(const json& body) {
  auto understood = std::make_shared<BodyText>();
  understood->content =
      inference::client::ContentOf(content::CanonicalJson(body, content::DefaultVolatileNames()));
  if (body.is_object()) {
    understood->uri = redfish::LinkTarget(body);
    understood->members = redfish::MemberUris(body);
  }
  return understood;
}

std::size_t TextBytes(const BodyTexts::Pointer& text) {
  constexpr std::size_t kPlace = 300;
  if (text == nullptr) return kPlace;
  std::size_t bytes = kPlace + text->content.text->size() + text->uri.size();
  for (const std::string& member : text->members) bytes += sizeof(member) + member.size();
  return bytes;
}

}  // namespace

BodyTexts::Pointer BodyTexts::Read(std::string_view body, const json* parsed) {
  static const auto kNone = std::make_shared<const BodyText>();
  if (body.empty()) return kNone;
  const Pointer text = texts_.FindOrMake(
      HashOf(WithoutETags(body, bytes_), kRaw),
      [&body, parsed]() -> Pointer {
        if (parsed != nullptr) return Understand(*parsed);
        const json value = content::ParseJson(body);
        return value.is_discarded() ? nullptr : Understand(value);
      },
      TextBytes);
  if (text != nullptr) return text;
  return texts_.FindOrMake(
      HashOf(body, kNoJson), [&body] { return Understand(std::string(body)); }, TextBytes);
}

BodyTexts::Pointer BodyTexts::ReadParsed(const json& body) {
  bytes_.clear();
  bytes_of_.Append(bytes_, body);
  return texts_.FindOrMake(
      HashOf(bytes_, kValue), [&body] { return Understand(body); }, TextBytes);
}

}  // namespace shoal::actor
