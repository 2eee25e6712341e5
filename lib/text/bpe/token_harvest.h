// SPDX-License-Identifier: Apache-2.0
// Collects, from the JSON of recorded services, texts that deserve a token of their own: the names
// that a Redfish service repeats again and again.
//
//   URIs                values of `@odata.id` and of an action's `target`
//   types, contexts     values of `@odata.type` and `@odata.context`
//   actions             members of `Actions`: "#ComputerSystem.Reset"
//   allowable values    members whose name ends in `@Redfish.AllowableValues`, and their values
//   settings            names of the members of a `@Redfish.Settings` object
//   structure           characters between strings in canonical JSON: `":"`, `"},{"`
//
// A token is written as in canonical JSON (platform/content/canonical_json.h), escapes included.
// All kinds except structure are single words: "/redfish/v1/Systems/1" is not found in
// "/redfish/v1/Systems/10". The same documents in any order give the same tokens in the same order.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "text/bpe/added_token_finder.h"
#include "text/bpe/tokenizer.h"

namespace shoal::tokens {

class TokenHarvest {
 public:
  enum class Kind { kUri, kType, kContext, kAction, kAllowable, kSettings, kStructure };

  struct Options {
    // Rarer texts are left out.
    std::int64_t minimum_count = 8;
    // The minimum length in bytes; shorter texts are left out.
    std::size_t minimum_length = 3;
    // The maximum number of texts, those that save most bytes (count times length). 0 for none.
    std::size_t limit = 1024;
  };

  struct Found {
    std::string text;
    Kind kind = Kind::kUri;
    std::int64_t count = 0;
  };

  // Adds a document. REQUIRES: it nests no deeper than content::kMaximumNesting.
  void Add(const nlohmann::json& document);

  // Returns texts in descending order of bytes saved, then by text.
  std::vector<Found> Best(const Options& options) const;

  // Returns added tokens without ids, as Tokenizer::Extend takes them, except texts that are
  // already one token of `tokenizer`.
  static std::vector<AddedToken> Tokens(const std::vector<Found>& found,
                                        const Tokenizer& tokenizer);

 private:
  void AddValue(const nlohmann::json& value);
  void AddMember(const std::string& name, const nlohmann::json& value);
  void AddText(const nlohmann::json& text, Kind kind);
  void AddStructure(std::string_view canonical);

  // A text found under several kinds keeps the first of them in the order of Kind, but structure
  // wins.
  std::map<std::string, Found, std::less<>> found_;
};

// Returns "uri", "type", ...
std::string_view KindName(TokenHarvest::Kind kind);

}  // namespace shoal::tokens
