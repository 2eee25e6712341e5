// SPDX-License-Identifier: Apache-2.0
#include "text/intent/cue.h"

#include <absl/strings/str_split.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "text/lexical/words.h"

namespace shoal::intent {
namespace {

constexpr std::size_t kMaxWords = 16;

// Returns whether what stands at word `at` is said apart from the word before it.
bool BeginsApart(const Sentence& sentence, std::size_t at) {
  static constexpr std::array<std::string_view, 3> kJoints = {"and", "but", "then"};
  if (at == 0 || at >= sentence.words().size()) return false;
  if (sentence.ClauseOf(at) != sentence.ClauseOf(at - 1)) return true;
  return std::find(kJoints.begin(), kJoints.end(), sentence.words()[at]) != kJoints.end();
}

// Returns whether a clause ends before word `at`.
bool CrossesClause(const Sentence& sentence, std::size_t at) {
  return at > 0 && at < sentence.words().size() &&
         sentence.ClauseOf(at) != sentence.ClauseOf(at - 1);
}

// Returns whether "nothing" stands in the gap of a match: "leave nothing mounted".
bool IsOfNothing(const Sentence& sentence, const CueMatch& match) {
  for (std::size_t at = match.begin; at < match.end; ++at) {
    if (sentence.TextAt(at) == "nothing") return true;
  }
  return false;
}

// Returns the stems of words.
WordSet StemsOf(std::string_view text) {
  constexpr std::size_t kMost = 64;
  std::vector<std::string> stems;
  tokens::AppendWords(text, kMost, stems);
  return {stems.begin(), stems.end()};
}

// Returns whether the clause of a word begins with how to tell success: "accepted when it shines".
bool IsCheck(const Sentence& sentence, std::size_t at) {
  static const WordSet kProving = {"accepted", "acceptance", "verified",  "proof",
                                   "proven",   "evidence",   "criterion", "criteria"};
  std::size_t first = at;
  while (first > 0 && sentence.ClauseOf(first - 1) == sentence.ClauseOf(at)) --first;
  return first != at && (kProving.contains(sentence.TextAt(first)) ||
                         (first + 1 < at && kProving.contains(sentence.TextAt(first + 1))));
}

// Returns whether a match is where a change begins, or describes its thing: "off to on", "system
// off to system on", "a powered-down box".
bool IsChange(const Sentence& sentence, const CueMatch& match) {
  const std::vector<std::string>& words = sentence.words();
  const auto is_state = [&words](std::size_t at) {
    return at < words.size() && (words[at] == "on" || words[at] == "off");
  };
  const bool goes_on = match.end < words.size() && words[match.end] == "to" &&
                       (is_state(match.end + 1) || is_state(match.end + 2));
  const std::string token = sentence.TextAt(match.begin);
  return goes_on || token.find("ed-off") != token.npos || token.find("ed-down") != token.npos ||
         token.find("ed-on") != token.npos;
}

// Returns whether what follows a match tells of it, as in "off since noon", "a forced stop would do
// harm". "Has to" and "would be nice" ask.
bool IsJudged(const Sentence& sentence, const CueMatch& match) {
  static const WordSet kFollowing =
      StemsOf("since would has had did unchanged untouched stays remains");
  const std::vector<std::string>& words = sentence.words();
  for (std::size_t at = match.end; at < std::min(match.end + 2, words.size()); ++at) {
    if (sentence.ClauseOf(at) != sentence.ClauseOf(match.begin)) return false;
    const bool asks = at + 1 < words.size() && (words[at + 1] == "to" || words[at + 1] == "be");
    if (kFollowing.contains(words[at]) && !asks) return true;
  }
  return false;
}

// Returns whether the clause goes on with what rules out a match that ends at word `at`: "a forced
// stop is not permitted", "forced off not permitted". In "by force as delay is forbidden" something
// else is ruled out.
bool IsRuledOut(const Sentence& sentence, std::size_t at) {
  static const WordSet kNouns = StemsOf("stop shutdown shut power off down reset boot order");
  static const WordSet kCopulas = {"is", "are", "has", "have"};
  static const WordSet kNot = {"not", "no", "never", "an"};
  static const WordSet kForbidden =
      StemsOf("forbidden prohibited excluded unacceptable inadmissible undesired unwanted");
  static const WordSet kPermitted = StemsOf(
      "permitted allowed acceptable accepted wanted desired option approved authorised authorized");
  // "Is not to be touched" needs all of its words.
  static const Cue kKept(
      "not to be touched|not to be changed|not to be modified|not to be altered|not to be used|not "
      "be touched|not be changed|not be modified|not be altered|not be used");
  static const WordSet kModals = {"must", "should", "shall", "may", "can"};
  const std::vector<std::string>& words = sentence.words();
  const std::size_t clause = at == 0 ? 0 : sentence.ClauseOf(at - 1);
  const auto is_inside = [&](std::size_t word) {
    return word < words.size() && sentence.ClauseOf(word) == clause;
  };
  while (is_inside(at) && kNouns.contains(words[at])) ++at;
  const bool has_copula = is_inside(at) && kCopulas.contains(sentence.TextAt(at));
  if (has_copula) ++at;
  const std::vector<CueMatch> kept = kKept.FindAll(sentence);
  const bool has_modal = is_inside(at) && kModals.contains(sentence.TextAt(at));
  if (has_modal) ++at;
  if (is_inside(at) && std::any_of(kept.begin(), kept.end(),
                                   [at](const CueMatch& one) { return one.begin == at; })) {
    return true;
  }
  bool is_negated = false;
  for (; is_inside(at); ++at) {
    if (kForbidden.contains(words[at])) {
      return (has_copula || !is_inside(at + 1)) && !is_negated;
    }
    if (kPermitted.contains(words[at])) {
      return is_negated && !(is_inside(at + 1) && words[at + 1] == "to");
    }
    const std::string text = sentence.TextAt(at);
    if (!kNot.contains(text) && text != "been" && !text.ends_with("ly")) return false;
    is_negated |= text != "an" && kNot.contains(text);
  }
  return false;
}

// Returns whether a match stands between "leave" and "alone", or the like.
bool IsLeftAlone(const Sentence& sentence, const CueMatch& match) {
  static const Cue kLeaving(
      "leave * alone|leave * untouched|leave * unchanged|leave * as it|leave * as is|keep * "
      "untouched|keep * unchanged|keep * as it|keep * as is");
  const std::vector<CueMatch> leaving = kLeaving.FindAll(sentence);
  return std::any_of(leaving.begin(), leaving.end(), [&](const CueMatch& around) {
    return around.begin < match.begin && match.end < around.end &&
           !IsNegated(sentence, around.begin);
  });
}

}  // namespace

bool IsNegated(const Sentence& sentence, std::size_t at) {
  const std::vector<std::string>& words = sentence.words();
  static const WordSet kNot =
      StemsOf("no non nobody nothing not never without don dont avoid nor neither than instead");
  // "Do not make it permanent" has its verb between, and "no" stands close to what it denies.
  constexpr std::size_t kReach = 4;
  for (std::size_t back = 1; back <= kReach && back <= at; ++back) {
    const std::string& word = words[at - back];
    if (sentence.ClauseOf(at - back) != sentence.ClauseOf(at) || word == "but") return false;
    if (word == "no" && back == kReach) continue;
    // "It belongs to nobody: remove it"
    if (word == "nobody" && sentence.tokens()[sentence.TokenOf(at - back)].before_colon) continue;
    if (kNot.contains(word)) return true;
  }
  return false;
}

bool TellsState(const Sentence& sentence, const CueMatch& match) {
  static const WordSet kTelling = StemsOf(
      "was were is are has have had been got somebody someone show shows say says report still "
      "stay already who which cannot found find sit sits stand stands lie lies hate hates listed "
      "being since because refuse refuses");
  static const WordSet kAsking = StemsOf("must should be to shall need want will please can");
  constexpr std::size_t kReach = 3;
  const std::vector<std::string>& words = sentence.words();
  if (IsCheck(sentence, match.begin)) return true;
  bool tells = IsChange(sentence, match) || IsJudged(sentence, match);
  // What a participle belongs to may be far: "is as dead as a doornail (powered off)".
  static const WordSet kDirections = StemsOf("on off up down");
  const bool is_participle =
      sentence.TextAt(match.begin).ends_with("ed") && kDirections.contains(words[match.end - 1]);
  const std::size_t reach = is_participle ? match.begin : std::min(kReach, match.begin);
  for (std::size_t back = 1; back <= reach; ++back) {
    const std::size_t at = match.begin - back;
    if (sentence.ClauseOf(at) != sentence.ClauseOf(match.begin)) break;
    if (kAsking.contains(words[at])) return false;
    tells |= kTelling.contains(words[at]);
  }
  return tells;
}

Cue::Cue(std::string_view text)
    : may_be_negated_(text.starts_with('~')), is_wish_(text.starts_with('!')) {
  const std::string copy(text);
  for (const auto& alternative : absl::StrSplit(copy, '|')) {
    std::vector<std::string> stems;
    for (const auto& part : absl::StrSplit(std::string(alternative), ' ', absl::SkipEmpty())) {
      const std::string word(part);
      if (word == "*") {
        stems.push_back(word);
      } else {
        tokens::AppendWords(word, kMaxWords, stems);
      }
    }
    const bool has_word = std::any_of(stems.begin(), stems.end(),
                                      [](const std::string& stem) { return stem != "*"; });
    if (!has_word) continue;
    std::vector<Part> parts;
    for (std::size_t i = 0; i < stems.size(); ++i) {
      Part part{.stem = stems[i]};
      const std::size_t next = i + (i + 1 < stems.size() && stems[i + 1] == "*" ? 2 : 1);
      if (next < stems.size()) {
        part.joined = stems[i] + stems[next];
        part.length = next + 1 - i;
      }
      parts.push_back(std::move(part));
    }
    alternatives_.push_back(std::move(parts));
  }
  std::stable_sort(alternatives_.begin(), alternatives_.end(),
                   [](const Alternative& a, const Alternative& b) {
                     return a.front().stem.front() < b.front().stem.front();
                   });
}

// Returns the end of the match that begins at word `at`.
std::optional<std::size_t> Cue::EndOfMatch(const Sentence& sentence, std::size_t at,
                                           std::span<const Part> parts) {
  const std::vector<std::string>& words = sentence.words();
  if (parts.empty()) return at;
  const Part& part = parts.front();
  if (part.stem == "*") {
    if (CrossesClause(sentence, at)) return std::nullopt;
    for (std::size_t skip = 0; skip <= kGap && at + skip < words.size(); ++skip) {
      if (const auto end = EndOfMatch(sentence, at + skip, parts.subspan(1))) return end;
      if (BeginsApart(sentence, at + skip)) break;
    }
    return std::nullopt;
  }
  if (at >= words.size()) return std::nullopt;
  if (sentence.Says(at, part.stem)) return EndOfMatch(sentence, at + 1, parts.subspan(1));
  // People write "poweron" and "assettag".
  if (part.joined.empty() || !IsNearly(words[at], part.joined)) return std::nullopt;
  return EndOfMatch(sentence, at + 1, parts.subspan(part.length));
}

std::vector<CueMatch> Cue::FindAll(const Sentence& sentence) const {
  std::vector<CueMatch> matches;
  for (std::size_t at = 0; at < sentence.words().size(); ++at) {
    for (const char byte : {sentence.words()[at].front(), '*'}) {
      auto alternative = std::lower_bound(
          alternatives_.begin(), alternatives_.end(), byte,
          [](const Alternative& one, char first) { return one.front().stem.front() < first; });
      for (; alternative != alternatives_.end() && alternative->front().stem.front() == byte;
           ++alternative) {
        if (const auto end = EndOfMatch(sentence, at, *alternative)) matches.push_back({at, *end});
      }
    }
  }
  return matches;
}

std::optional<CueMatch> Cue::Find(const Sentence& sentence) const {
  const std::vector<CueMatch> matches = FindAll(sentence);
  return matches.empty() ? std::nullopt : std::optional(matches.front());
}

bool Cue::IsAffirmed(const Sentence& sentence) const { return !Affirmed(sentence).empty(); }

std::vector<CueMatch> Cue::Affirmed(const Sentence& sentence) const {
  std::vector<CueMatch> matches = FindAll(sentence);
  std::erase_if(matches, [&](const CueMatch& match) {
    return (!may_be_negated_ &&
            (IsNegated(sentence, match.begin) || IsOfNothing(sentence, match) ||
             IsLeftAlone(sentence, match) || IsRuledOut(sentence, match.end))) ||
           (is_wish_ && TellsState(sentence, match));
  });
  return matches;
}

}  // namespace shoal::intent
