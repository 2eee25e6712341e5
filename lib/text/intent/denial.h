// SPDX-License-Identifier: Apache-2.0
// What a sentence denies, takes back, or reports as done, so that it asks for no change.
//
// These are judgements by the words of the language, whatever the goals are. The functions are
// pure, so any number of threads may call them.
#pragma once

#include "text/intent/sentence.h"

namespace shoal::intent {

// Returns whether a clause ends with a retraction: "scratch that", "just asking". "Cancel that
// account" and "we only ask you to" are none.
bool TakesBack(const Sentence& sentence);

// Returns whether every clause denies what it names, reports what was done, tells how things are or
// is only polite or a remark, and one denies, reports or tells of a button or the like.
bool DeniesAll(const Sentence& sentence);

}  // namespace shoal::intent
