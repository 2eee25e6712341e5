// SPDX-License-Identifier: Apache-2.0
// What manifests are made of, read from JSON: errors are those of tokens::JsonNode,
// INVALID_ARGUMENT beginning with the JSON Pointer of what is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "text/bpe/json_node.h"

namespace shoal::dataset {

// At least 0.
absl::StatusOr<std::int64_t> ReadCount(const tokens::JsonNode& node);
absl::StatusOr<bool> ReadBool(const tokens::JsonNode& node);
// 64 hexadecimal digits, small letters.
absl::StatusOr<std::string> ReadSha256(const tokens::JsonNode& node);
// The list of texts `key` of `node`.
absl::StatusOr<std::vector<std::string>> ReadStrings(const tokens::JsonNode& node,
                                                     const std::string& key);

}  // namespace shoal::dataset
