// SPDX-License-Identifier: Apache-2.0
// The lists of synonyms that the phrasings of all goals share: data/goals/phrasings/lists.toml, or
// the file of that name beside other goals.
//
// The file has one key for each list, an array of patterns. A pattern may name a list that stands
// before its own in the file.
#pragma once

#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "redfish/goals/phrase_pattern.h"

namespace shoal::redfish {

// Reads the lists for the goals of `folder`. A folder without the file has no lists.
// INVALID_ARGUMENT naming the file and the list.
absl::StatusOr<PhrasePattern::Lists> LoadPhraseLists(const std::string& folder);

// Reads the array of patterns `key` in phrasings/`file`. NOT_FOUND, or INVALID_ARGUMENT naming file
// and key.
absl::StatusOr<std::vector<PhrasePattern>> LoadPhrases(const std::string& folder,
                                                       const std::string& file,
                                                       const std::string& key,
                                                       const PhrasePattern::Lists& lists);

}  // namespace shoal::redfish
