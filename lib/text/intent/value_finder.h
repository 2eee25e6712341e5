// SPDX-License-Identifier: Apache-2.0
// Finds in a sentence the values that a goal needs.
//
// Values whose form tells what they are (addresses, versions, attributes of the BIOS, boot options)
// are taken by form. Tags, user names and passwords have no form of their own: for these, the
// tokens that are no known words are what name_finder.h chooses from.
//
// Immutable, safe for any number of threads. It borrows the names and the vocabulary.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "redfish/goals/goal.h"
#include "text/intent/capture_names.h"
#include "text/intent/goal_sentence.h"
#include "text/intent/sentence.h"
#include "text/intent/vocabulary.h"

namespace shoal::intent {

struct FoundValues {
  // By the name of the phrasings' "{name}".
  redfish::Values values;
  // The targets that the sentence singles out; empty means all.
  std::set<std::string> targets;
  // The tokens in which values without a form of their own stand.
  std::set<std::size_t> tokens;
  // The names of values that the sentence does not give.
  std::vector<std::string> missing;
  // Why the sentence cannot mean the goal; empty when it can.
  std::string misfit;
};

// Finds the values that `goal` needs, by `rules`.
FoundValues FindValues(const Sentence& sentence, const GoalSentence& rules,
                       const redfish::AppliedGoal& goal, const CaptureNames& names,
                       const Vocabulary& vocabulary);

}  // namespace shoal::intent
