// SPDX-License-Identifier: Apache-2.0
// What a person meant by a word: abbreviations of the field, and slips of the finger.
//
// A word that is neither known nor English, and is one letter away from known words (one too many,
// one too few, another one, or two swapped), is taken for one of them: for a word by which goals
// are told before others, and for one with the same first letter before others.
//
// Immutable, safe for any number of threads.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace shoal::intent {

// Words in lower case.
using WordSet = std::set<std::string, std::less<>>;

class Speller {
 public:
  // `abbreviations` has what each one stands for; `telling` the words by which goals are told;
  // `phrased` further words of the phrasings; `others` words that are right as they are, and for
  // which no other word is taken.
  Speller(std::map<std::string, std::string, std::less<>> abbreviations, WordSet telling,
          WordSet phrased, WordSet others);

  // Returns what `word` was meant to be, in lower case, or nothing when it is right as it is, or
  // is no plain word.
  std::optional<std::string> Meant(std::string_view word) const;

  // Returns whether `word` is one of those by which goals are told, or of the phrasings.
  bool IsPhrased(std::string_view word) const;

  // Returns whether `word` is right as it is, because some list has it.
  bool Knows(std::string_view word) const;

 private:
  const std::map<std::string, std::string, std::less<>> abbreviations_;
  const WordSet telling_;
  const WordSet phrased_;
  const WordSet others_;
};

}  // namespace shoal::intent
