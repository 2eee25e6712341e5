// SPDX-License-Identifier: Apache-2.0
// Understands a person's sentence as a goal with its values, in the terms of one capture.
//
// 1. The sentence is split into tokens and words (sentence.h).
// 2. A classifier over the sentence's vector, and the cues of each goal's file, say how likely each
//    goal is. Cues that a goal must not hear and values that are missing count against it.
// 3. The values of the likeliest goal are taken from the sentence (value_finder.h) and put into
//    what the goal requires.
//
// A sentence is refused, with a reason, when it is not UTF-8, when no goal fits, when it asks for
// something else than the goal that is nearest or for something later or on a condition, when it
// lacks a value, and when the capture does not offer the goal. Where its pieces (sentence_pieces.h)
// are understood one by one, it asks for several goals.
//
// Immutable, safe for any number of threads. It borrows the encoder.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/runtime/status.h"
#include "redfish/capture/capture.h"
#include "redfish/goals/goal.h"
#include "redfish/goals/predicate.h"
#include "text/intent/capture_names.h"
#include "text/intent/goal_sentence.h"
#include "text/intent/intent_language.h"
#include "text/intent/sentence_pieces.h"
#include "text/intent/speller.h"
#include "text/intent/value_finder.h"
#include "text/lexical/text_encoder.h"

namespace shoal::intent {

struct Intent {
  // The part of the sentence that asks for the goal; mostly the whole.
  std::string text;
  // Why the sentence is refused; empty when it is understood.
  std::string refusal;
  // The likeliest goal, also of a refused sentence.
  std::int64_t goal_id = 0;
  std::string goal;
  // The probability of the goal, in [0, 1].
  double score = 0.0;
  // Other goals with their probabilities, the likeliest first.
  std::vector<std::pair<std::string, double>> alternatives;
  // By the name of the phrasings' "{name}".
  redfish::Values values;
  // Whether a quotation, or something that looks like a name or a password, is no value of the
  // goal.
  bool leaves_values = false;
  // The targets that the sentence singles out; empty means all of the goal's.
  std::set<std::string> targets;
  // What the goal requires; only of a sentence that is understood.
  std::optional<redfish::Predicate> requirement;
};

// Returns the intent as JSON: refusal or goal, score, parameters, targets, predicates,
// alternatives.
nlohmann::json ToJson(const Intent& intent);
// Returns one intent as above, and several as {"understood": true, "goals": [..]}, each with the
// part of the sentence that asks for it.
nlohmann::json ToJson(const std::vector<Intent>& intents);

class IntentParser {
 public:
  // Makes a parser for sentences about `capture`. Many parsers may share a language; the encoder
  // that it borrows must outlive them all. The error is that of a goal that cannot be applied for
  // another reason than that the capture lacks something. REQUIRES: language != nullptr.
  static absl::StatusOr<std::unique_ptr<const IntentParser>> Create(
      std::shared_ptr<const IntentLanguage> language, const redfish::Capture& capture);

  // Does so with the language of `folder` (ReadIntentLanguage, whose errors it has, too). `encoder`
  // must outlive the parser.
  static absl::StatusOr<std::unique_ptr<const IntentParser>> Create(
      const std::string& folder, const redfish::Capture& capture,
      const tokens::TextEncoder& encoder);

  // A text of more pieces is not divided.
  static constexpr std::size_t kMaximumPieces = 24;

  // Takes the sentence to ask for one goal. The error is the encoder's. A refused sentence is no
  // error.
  absl::StatusOr<Intent> Parse(std::string_view text) const;

  // Returns an intent for each goal that the sentence asks for, in their order; one, of the whole,
  // where its pieces do not ask for several goals. A text with a condition or a question among its
  // pieces is not divided. Errors are those of Parse.
  absl::StatusOr<std::vector<Intent>> ParseGoals(std::string_view text) const;

 private:
  // A goal with what its sentences say.
  struct Reader {
    std::shared_ptr<const redfish::Goal> goal;
    // Belongs to the language.
    const GoalSentence* rules;
    // The goal on the capture, or why it does not apply.
    absl::StatusOr<std::shared_ptr<const redfish::AppliedGoal>> applied;
  };

  // What all goals hear of a sentence.
  struct Heard {
    const Sentence& sentence;
    // The sentence with "attribute" in place of BIOS attributes that it names with a value.
    Sentence plain;
    bool has_url = false;
    // Whether it names a boot option by its reference.
    bool has_option = false;
  };

  // How a sentence reads when it is taken to ask for one goal.
  struct Reading {
    FoundValues found;
    // The classifier's probability.
    double likely = 0.0;
    double about = 0.0;
    bool barred = false;
    // Whether the sentence says all that the goal needs, and nothing against it.
    bool fits = false;
    // The logarithm of how likely the goal is, but for a constant.
    double weight = 0.0;
  };

  // Returns the goals that neighbouring pieces ask for, from the first piece to the last: one where
  // they are understood together and not surely as more, otherwise those of the division into two
  // with the fewest. All are understood, with their values. A goal may stand there again where all
  // its values are given again and at least one differs; none wants a property to be otherwise than
  // another one does. Empty where there is no such division.
  absl::StatusOr<std::vector<Intent>> GoalsOf(std::string_view text,
                                              const std::vector<Piece>& pieces) const;

  // Returns the words of BIOS attributes that the sentence names with a value.
  std::set<std::size_t> AttributeWords(const Sentence& sentence) const;
  Heard Hear(const Sentence& sentence) const;
  Reading ReadAs(const Reader& reader, const Heard& heard, double likely) const;
  // Returns whether the sentence speaks of things that no goal is about, outside of the values.
  // Where all that the goal needs is said, clauses that only tell what happened do not matter.
  bool SpeaksOfOtherThings(const Sentence& sentence, const Reading& reading) const;
  // Returns why the best reading is no answer; empty when it is one.
  std::string RefusalOf(const Reader& reader, const Reading& reading, const Sentence& sentence,
                        const Intent& intent) const;

  IntentParser(std::shared_ptr<const IntentLanguage> language, std::vector<Reader> readers,
               CaptureNames names, Speller speller);

  const std::shared_ptr<const IntentLanguage> language_;
  const std::vector<Reader> readers_;
  const CaptureNames names_;
  const Speller speller_;
};

}  // namespace shoal::intent
