// SPDX-License-Identifier: Apache-2.0
// Values of a JSON document with their JSON Pointers, read with errors that name them.
//
// Every error is INVALID_ARGUMENT and begins with the pointer. The document must outlive its nodes.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::tokens {

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
  // At least 0 and below 2^30.
  absl::StatusOr<std::int32_t> Id() const;
  // The member "type" of an object.
  absl::StatusOr<std::string> Type() const;
  // The member `key`, an array.
  absl::StatusOr<JsonNode> List(const std::string& key) const;

  absl::Status RequireNull() const;
  // Null counts, here and below.
  absl::Status RequireFalse() const;
  absl::Status RequireEmptyString() const;
};

// INVALID_ARGUMENT naming the byte at which `text` is no JSON, or that it nests too deep.
absl::StatusOr<nlohmann::json> ParseJsonDocument(std::string_view text);

}  // namespace shoal::tokens
