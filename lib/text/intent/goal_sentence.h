// SPDX-License-Identifier: Apache-2.0
// What a sentence says when it asks for a goal: the [sentence] table of the goal's file.
//
//   about   cues (cue.h), each of which the sentence must say
//   never   cues that the sentence must not say, unless it negates them
//   harmless   cues inside of which words of `never` do not matter ("virtual power button")
//   values.<name>   a value that the sentence must give; <name> is that of the phrasings' "{name}"
//     kind     "tag", "user", "password", "host", "url", "version": by shape and cues;
//              "attribute": a BIOS attribute, whose value becomes the value named by `value`;
//              "boot_option"; "choice": the one that all choices of the goal share
//     before, after   cues that stand before or after the value; closer and longer ones count more
//     optional  whether the goal does without (false)
//     shaped    of a user: whether one is taken only as the object of a cue, and none where it is
//               one letter away from a word of the language, as for one that is to be deleted,
//               since it may be a slip of the finger; a sentence that denies a cue of `before`, or
//               does not say all of `about`, does not fit the goal (false)
//     file      of an address: "image" (an ISO), "firmware" or "none", by the ending of its path;
//               for goals with several addresses
//     host      of an address: whether a host alone is enough, from which the goal's slot makes one
//     target    the value is needed only when the sentence names this target
//     said      of a choice: a cue that may stand for it
//     follows   the name of another value, which people mostly say before this one, as they say the
//               old password before the new one; both without a form of their own
//   targets.<name>   a target that the sentence may single out
//     said     the cue that names it
//     state    "on" or "off": what the sentence must want of it
//     needed   whether at least one such target must be named (false)
//
// Immutable, safe for any number of threads.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "redfish/goals/goal.h"
#include "text/intent/cue.h"
#include "text/intent/sentence.h"

namespace shoal::intent {

struct ValueRule {
  std::string name;
  std::string kind;
  std::vector<Cue> before;
  std::vector<Cue> after;
  bool optional = false;
  bool shaped = false;
  std::string value;
  std::string file;
  bool host = false;
  std::string target;
  std::optional<Cue> said;
  std::string follows;
};

// Returns whether values of a rule's kind have no form of their own: tags, user names, passwords.
bool IsNameKind(const std::string& kind);

struct TargetRule {
  std::string name;
  Cue said;
  std::string state;
  bool needed = false;
};

class GoalSentence {
 public:
  // INVALID_ARGUMENT naming the goal and the key.
  static absl::StatusOr<GoalSentence> Read(const redfish::Goal& goal);

  // How much the sentence is about the goal: the share of `about` that it says; a goal without
  // cues has half.
  double About(const Sentence& sentence) const;
  // Whether a cue of `about` stands before the word `at` in its clause. REQUIRES: there is the
  // word.
  bool SaysBefore(const Sentence& sentence, std::size_t at) const;
  // Whether one of the cues of `about` is just the words [begin, end).
  bool Covers(const Sentence& sentence, std::size_t begin, std::size_t end) const;
  // Whether it asks for what the goal must not hear. What it denies, rules out or leaves alone
  // (Cue::IsAffirmed) does not matter, nor what it says of how things are ("it was switched off"),
  // nor what is inside of the tokens of `values` or of a cue of `harmless`, nor an occasion of
  // which its clause tells ("after the disk swap somebody reshuffled the list"). In another clause
  // a second command may stand there ("after the reboot downgrade it").
  bool IsBarred(const Sentence& sentence, const std::set<std::size_t>& values) const;
  const std::vector<ValueRule>& values() const { return values_; }
  const std::vector<TargetRule>& targets() const { return targets_; }

 private:
  std::vector<Cue> about_;
  std::vector<Cue> never_;
  std::vector<Cue> harmless_;
  std::vector<ValueRule> values_;
  std::vector<TargetRule> targets_;
};

}  // namespace shoal::intent
