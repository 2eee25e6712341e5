// SPDX-License-Identifier: Apache-2.0
// What must happen or be so before what a sentence asks for, and remarks that only look like that.
//
// A condition says that the command holds only if something is so ("unless it is in use"), an event
// that it waits for something ("when the alarm sounds"). A remark has the form of a condition but
// concerns the writer and not the command ("unless I am mistaken").
//
// These are judgements by the words of the language, whatever the goals are. The functions are
// pure, so any number of threads may call them. REQUIRES of each: there is the token.
#pragma once

#include <cstddef>

#include "text/intent/sentence.h"

namespace shoal::intent {

// Returns whether the condition at a token is about what the writer believes, about somebody's time
// or about a restart on the way, and not about the command: "unless I am mistaken", "if time
// permits", "reboot if required", ".. If a restart is needed, do that too". "Unless it already is"
// waits for nothing either.
bool IsRemark(const Sentence& sentence, std::size_t at);

// Returns whether a condition begins at a token. "If you can" and "if it is off" are ways to ask.
bool BeginsCondition(const Sentence& sentence, std::size_t at);

// Returns whether "as soon as" begins at a token and waits for something: not "as soon as you can",
// nor, where the command has a sequel (`has_sequel`), for one of its own steps: "eject it as soon
// as the server has booted".
bool BeginsWait(const Sentence& sentence, std::size_t at, bool has_sequel);

// Returns whether "when the alarm sounds" or the like begins at a token behind a command. "Boot the
// disk first when the server starts", "accepted when the lamp shines", of a step before, "and log
// out once the tag is set", and, of a sequel, "eject it when the installer is done" have none.
bool BeginsOccasion(const Sentence& sentence, std::size_t at, bool has_sequel);

}  // namespace shoal::intent
