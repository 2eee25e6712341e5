// SPDX-License-Identifier: Apache-2.0
// The model of byte-pair encoding in a JSON document: tokens with their ids, and merges by rank.
//
// Every error is INVALID_ARGUMENT and, unless said otherwise, begins with a JSON Pointer.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "text/bpe/json_node.h"
#include "text/bpe/tokenizer.h"

namespace shoal::tokens {

using IdByText = absl::flat_hash_map<std::string, std::int32_t>;

// `node`: {token: id, ...}. Fills `texts`, by id.
absl::StatusOr<IdByText> ReadVocabulary(const JsonNode& node, std::vector<std::string>& texts);

// Names the token that is missing, and nothing else.
absl::StatusOr<MergeRule> ResolveMerge(const std::string& left, const std::string& right,
                                       const IdByText& ids);
// `text`: "left right". The error names no place.
absl::StatusOr<MergeRule> ParseMerge(std::string_view text, const IdByText& ids);

// `node`: the `model` of a tokenizer.json. Fills what `parts` has of a model.
absl::Status ReadBpeModel(const JsonNode& node, Tokenizer::Parts& parts);

}  // namespace shoal::tokens
