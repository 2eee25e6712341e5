// SPDX-License-Identifier: Apache-2.0
// A cue is what a sentence must say in one of several ways: "asset tag|inventory number".
//
// Alternatives are separated by '|'. Each is a run of words, compared as stems; one that the
// speller does not know may be a slip of the finger away (sentence.h). Two words may be written as
// one ("assettag"). A '*' stands for up to kGap words, as in "turn * on"; they end with the clause
// and before "and", "but" and "then".
//
// Before the first alternative, a '~' says that the cue counts also where the sentence negates it,
// and a '!' that it does not count where the sentence tells how things are.
//
// Immutable, safe for any number of threads.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/intent/sentence.h"

namespace shoal::intent {

// The words [begin, end) of a sentence that a cue matches.
struct CueMatch {
  std::size_t begin = 0;
  std::size_t end = 0;
};

class Cue {
 public:
  static constexpr std::size_t kGap = 5;

  explicit Cue(std::string_view text);

  // Returns the first match.
  std::optional<CueMatch> Find(const Sentence& sentence) const;
  // Returns every match, at most one for each alternative and first word.
  std::vector<CueMatch> FindAll(const Sentence& sentence) const;
  // Returns whether there is a match that the sentence does not deny: before which the same clause
  // does not say "not", "never", "without" or the like, without "nothing" in a gap, behind which it
  // is not ruled out ("is not permitted", "must not be touched"), and which does not stand inside
  // of "leave .. alone" or the like. For a cue that begins with '~' any match will do.
  bool IsAffirmed(const Sentence& sentence) const;
  // Returns those matches.
  std::vector<CueMatch> Affirmed(const Sentence& sentence) const;

 private:
  bool may_be_negated_ = false;
  bool is_wish_ = false;
  struct Part {
    // "*" is a gap.
    std::string stem;
    // This and the next stem as one word, and how many parts that are; empty for the last stem.
    std::string joined = {};
    std::size_t length = 1;
  };
  static std::optional<std::size_t> EndOfMatch(const Sentence& sentence, std::size_t at,
                                               std::span<const Part> parts);

  using Alternative = std::vector<Part>;

  // Sorted by their first bytes. No slip of the finger changes the first letter, so a word needs to
  // be compared with those alone that begin as it does, or with a gap.
  std::vector<Alternative> alternatives_;
};

// Returns whether the clause of word `at` says "not", "never", "without" or the like shortly before
// it. REQUIRES: there is the word.
bool IsNegated(const Sentence& sentence, std::size_t at);

// Returns whether the words at `match` say how things are or were, how they would be, or how to
// check them, rather than what they should become: "it was switched off", "from off to on", "a
// powered-off box", "a forced stop would do harm", "accepted when the LED shines".
bool TellsState(const Sentence& sentence, const CueMatch& match);

}  // namespace shoal::intent
