// SPDX-License-Identifier: Apache-2.0
// Words that are part of the language rather than values.
#pragma once

#include "text/intent/speller.h"

namespace shoal::intent {

struct Vocabulary {
  // Values only where a user's name stands ("as chief with").
  WordSet known;
  // Values only beside clear cues: some are names, too ("frank").
  WordSet english;
};

}  // namespace shoal::intent
