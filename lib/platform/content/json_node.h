// SPDX-License-Identifier: Apache-2.0
// A strict reader of JSON documents: every error is INVALID_ARGUMENT and begins with the JSON
// Pointer (RFC 6901) of the wrong value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::content {

// A value of a JSON document with its JSON Pointer. The document must outlive its nodes.
struct JsonNode {
  const nlohmann::json* value;
  std::string pointer;

  // Returns the member `key`, or a null when it is missing.
  JsonNode At(const std::string& key) const;
  // REQUIRES: the value is an array that has this index.
  JsonNode At(std::size_t index) const;

  // Returns the error that this value is wrong: the pointer and `why`, e.g. "is no list".
  absl::Status Wrong(const std::string& why) const;

  absl::StatusOr<std::string> String() const;
  // Returns the boolean, or `missing` for a null.
  absl::StatusOr<bool> Bool(bool missing) const;
  // Returns the boolean; a null is wrong.
  absl::StatusOr<bool> Bool() const;
  // Returns a whole number that is at least 0.
  absl::StatusOr<std::int64_t> Count() const;
  // Returns 64 hexadecimal digits in lower case.
  absl::StatusOr<std::string> Sha256() const;
  // Returns a whole number that is at least 0 and below 2^30.
  absl::StatusOr<std::int32_t> Id() const;
  // Returns the member "type" of an object.
  absl::StatusOr<std::string> Type() const;
  // Returns the member `key`, which must be an array.
  absl::StatusOr<JsonNode> List(const std::string& key) const;
  // Returns the member `key`, which must be a list of texts.
  absl::StatusOr<std::vector<std::string>> Strings(const std::string& key) const;

  absl::Status RequireNull() const;
  // This check and the next one accept a null, too.
  absl::Status RequireFalse() const;
  absl::Status RequireEmptyString() const;
};

// Parses `text`. INVALID_ARGUMENT names the byte at which `text` is no JSON, or says that it nests
// too deep.
absl::StatusOr<nlohmann::json> ParseJsonDocument(std::string_view text);

}  // namespace shoal::content
