// SPDX-License-Identifier: Apache-2.0
// Finds in a sentence the values that have no form of their own: tags, user names and passwords.
//
// Each candidate is scored for each value: by its shape, such as digits between letters, and by the
// cues before and after it, of which closer and longer ones count more. No token is two values, and
// the assignment with the largest sum is chosen. It is found by trying all of them, so there are to
// be few values and candidates: time grows as candidates to the power of values.
//
// The functions are pure, so any number of threads may call them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "text/intent/goal_sentence.h"
#include "text/intent/sentence.h"
#include "text/intent/speller.h"

namespace shoal::intent {

// Returns the token of each rule's value, or nothing where none is likely. `candidates` are indices
// of tokens, ascending; a plain one is a value only beside clear cues, or as a user right before a
// password, and less likely if it is in `english`, in lower case, and does not end its clause in a
// list of users (which does not help one that is `shaped`). What a user is said to be or do ("is
// asleep") is none. REQUIRES: the rules are of kinds that have no form of their own.
std::vector<std::optional<std::size_t>> AssignNames(const Sentence& sentence,
                                                    const WordSet& english,
                                                    const std::vector<std::size_t>& candidates,
                                                    const std::vector<const ValueRule*>& rules);

// Returns the value that a token is. A user's name loses its "'s"; all but a quotation lose the '!'
// behind them, a password only where it has a dash and ends the sentence.
std::string NameOf(const Token& token, const std::string& kind, bool is_last);

}  // namespace shoal::intent
