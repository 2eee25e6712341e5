// SPDX-License-Identifier: Apache-2.0
// What is known of the language in which people ask for goals, whatever the capture: the goals with
// what their sentences say, the classifier, and lists of words.
//
// It takes a second to read, for the classifier is trained then, so parsers of several captures
// share one. Read-only once it is returned, safe for any number of threads. It borrows the encoder.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "platform/runtime/status.h"
#include "redfish/goals/goal.h"
#include "text/intent/cue.h"
#include "text/intent/goal_classifier.h"
#include "text/intent/goal_sentence.h"
#include "text/intent/speller.h"
#include "text/intent/vocabulary.h"
#include "text/lexical/text_encoder.h"

namespace shoal::intent {

struct IntentLanguage {
  explicit IntentLanguage(GoalClassifier trained) : classifier(std::move(trained)) {}

  redfish::GoalSuite suite;
  // One for each goal, in the suite's order.
  std::vector<GoalSentence> rules;
  GoalClassifier classifier;
  Vocabulary vocabulary;
  // What the speller knows (speller.h), but for a capture's own names.
  std::map<std::string, std::string, std::less<>> abbreviations;
  WordSet telling;
  WordSet phrased;
  // Things that no goal is about.
  std::vector<Cue> foreign;
};

// Reads the goals of `folder` and, in its folder phrasings/, refused.toml (patterns of sentences
// that ask for no goal, and things that no goal is about), words.txt, english.txt and
// abbreviations.txt. NOT_FOUND for missing files; INVALID_ARGUMENT naming file and key, or the
// abbreviation that stands for nothing. `encoder` must outlive what is returned.
absl::StatusOr<std::shared_ptr<const IntentLanguage>> ReadIntentLanguage(
    const std::string& folder, const tokens::TextEncoder& encoder);

}  // namespace shoal::intent
