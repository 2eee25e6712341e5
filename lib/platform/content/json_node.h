// SPDX-License-Identifier: Apache-2.0
// Strict reading of a JSON document: every error is INVALID_ARGUMENT and begins with the JSON
// Pointer (RFC 6901) of what is wrong.
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

  // A null for a member that is missing.
  JsonNode At(const std::string& key) const;
  // REQUIRES: an array that has it.
  JsonNode At(std::size_t index) const;

  // The error that this value is wrong: the pointer and `why`, e.g. "is no list".
  absl::Status Wrong(const std::string& why) const;

  absl::StatusOr<std::string> String() const;
  // `missing` for null.
  absl::StatusOr<bool> Bool(bool missing) const;
  // True or false; a null is wrong.
  absl::StatusOr<bool> Bool() const;
  // A whole number, at least 0.
  absl::StatusOr<std::int64_t> Count() const;
  // 64 hexadecimal digits, small letters.
  absl::StatusOr<std::string> Sha256() const;
  // At least 0 and below 2^30.
  absl::StatusOr<std::int32_t> Id() const;
  // The member "type" of an object.
  absl::StatusOr<std::string> Type() const;
  // The member `key`, an array.
  absl::StatusOr<JsonNode> List(const std::string& key) const;
  // The member `key`, a list of texts.
  absl::StatusOr<std::vector<std::string>> Strings(const std::string& key) const;

  absl::Status RequireNull() const;
  // Null counts, here and below.
  absl::Status RequireFalse() const;
  absl::Status RequireEmptyString() const;
};

// INVALID_ARGUMENT naming the byte at which `text` is no JSON, or that it nests too deep.
absl::StatusOr<nlohmann::json> ParseJsonDocument(std::string_view text);

}  // namespace shoal::content
