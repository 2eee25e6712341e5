// SPDX-License-Identifier: Apache-2.0
// What a sentence, or a part of one, requests at all: a change, now and without a condition, or
// only an answer.
//
// These are judgements by the words of the language, whatever the goals are. The functions are
// pure, so any number of threads may call them.
#pragma once

#include <string_view>

#include "text/intent/goal_sentence.h"
#include "text/intent/sentence.h"

namespace shoal::intent {

// Returns whether a sentence mentions the server, by whatever word.
bool SpeaksOfServer(const Sentence& sentence);

// Returns whether a sentence only asks to be told something, or to leave something as it is, has
// not decided, takes itself back ("scratch that"), denies all that it names ("there is no need to
// reset it"), or only reports ("somebody reset it yesterday"). REQUIRES: it has a token.
bool AsksForNoChange(const Sentence& sentence);

// Returns whether what the goal is about is to happen only later, or if something else is so.
bool AsksForLater(const Sentence& sentence, const GoalSentence& goal);

// Returns whether a piece of a text (sentence_pieces.h) asks for nothing by itself: a question, or
// a condition, from which the rest must not be taken apart.
bool IsNoRequest(std::string_view piece);

// Returns whether a piece of a text speaks of things that were named before it: "switch such relics
// off".
bool PointsBack(std::string_view piece);

// Returns whether a piece of a text asks for nothing in any of its clauses.
bool OnlyTells(std::string_view piece);

}  // namespace shoal::intent
