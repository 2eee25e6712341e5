// SPDX-License-Identifier: Apache-2.0
// The tokens of a sentence that could be tags, user names and passwords: those that are no words of
// the language, or that stand where a user's name does.
//
// Immutable, safe for any number of threads. It borrows the sentence and the vocabulary.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "text/intent/capture_names.h"
#include "text/intent/goal_sentence.h"
#include "text/intent/sentence.h"
#include "text/intent/vocabulary.h"

namespace shoal::intent {

class NameCandidates {
 public:
  NameCandidates(const Sentence& sentence, const Vocabulary& vocabulary);

  // Returns whether a token is a word that is never a value, or is made of such words.
  bool IsKnown(const Token& token) const;

  // Returns whether a token may be a slip of the finger away from a word of the language:
  // "intrudr". It must not be taken for a user who is to be deleted.
  bool MayBeSlip(const Token& token) const;

  // Returns the candidates, ascending, 24 at most. Addresses with digits, what belongs to
  // `attributes`, and what stands for a choice of the goal are none.
  std::vector<std::size_t> Find(const GoalSentence& rules,
                                const std::vector<NameMatch>& attributes) const;

  // When one user and one candidate are left, they belong together, unless the user's rule is
  // `shaped`. Words of the language are left only where there is nothing else, and so
  // are plain words beside what looks like a name. `tokens` has the token of each rule's value.
  void TakeOnlyOneLeft(const std::vector<const ValueRule*>& rules,
                       const std::vector<std::size_t>& candidates,
                       std::vector<std::optional<std::size_t>>& tokens) const;

  // Returns the administrator whom the sentence names, or `captured`. "Admin" is one only where it
  // stands as a name.
  nlohmann::json Administrator(const nlohmann::json& captured) const;

 private:
  // Returns whether the words before a token say that a name or a password comes: "user dc-hands",
  // "password is first-pass".
  bool FollowsNaming(const Token& token) const;
  // Returns whether a word of the language is a user's name by where it stands.
  bool IsNameOfUser(std::size_t index) const;
  // Returns whether a token stands where a user's name does: "as boss with", "user chief,
  // password".
  bool StandsAsName(std::size_t index) const;

  const Sentence& sentence_;
  const Vocabulary& vocabulary_;
};

}  // namespace shoal::intent
