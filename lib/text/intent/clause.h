// SPDX-License-Identifier: Apache-2.0
// What a clause does: whether it tells how things are or were, or gives a reason or an occasion.
//
// These are judgements by the words of the language, whatever the goals are. The functions are
// pure, so any number of threads may call them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "text/intent/sentence.h"

namespace shoal::intent {

// Returns the text of a token in lower case; nothing past the end.
std::string LowerTextOf(const std::vector<Token>& tokens, std::size_t at);

// Returns whether a clause says "was", "failed" or the like.
bool IsPast(const Sentence& sentence, std::size_t clause);

// Returns whether what stands at a word is only a reason or an occasion: "after replacing the
// DIMM". REQUIRES: there is the word.
bool IsSurroundings(const Sentence& sentence, std::size_t at);

// Returns whether a clause has only polite words: "thanks", "just so you know".
bool IsPolite(const Sentence& sentence, std::size_t clause);

// Returns whether a clause tells how things are or what happened, and asks for nothing.
bool IsBackground(const Sentence& sentence, std::size_t clause);

// Returns whether a clause is background, or tells what somebody did to something: "a colleague
// reshuffled the list".
bool TellsOfPast(const Sentence& sentence, std::size_t clause);

}  // namespace shoal::intent
