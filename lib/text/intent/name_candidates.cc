// SPDX-License-Identifier: Apache-2.0
#include "text/intent/name_candidates.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>

#include <algorithm>
#include <iterator>

#include "text/intent/cue.h"
#include "text/intent/token_shape.h"

namespace shoal::intent {
namespace {

using Json = nlohmann::json;

// Returns whether a token is part of one of the attributes' names.
bool IsOfAttribute(const Token& token, const std::vector<NameMatch>& attributes) {
  return std::any_of(attributes.begin(), attributes.end(), [&](const NameMatch& match) {
    return token.first_word >= match.begin && token.first_word < match.end;
  });
}

// Returns the words that stand for a choice of the goal, as "SetupPassword" does for the password's
// name.
std::vector<CueMatch> ChoicesIn(const Sentence& sentence, const GoalSentence& rules) {
  std::vector<CueMatch> choices;
  for (const ValueRule& rule : rules.values()) {
    if (!rule.said) continue;
    const std::vector<CueMatch> said = rule.said->FindAll(sentence);
    choices.insert(choices.end(), said.begin(), said.end());
  }
  return choices;
}

}  // namespace

NameCandidates::NameCandidates(const Sentence& sentence, const Vocabulary& vocabulary)
    : sentence_(sentence), vocabulary_(vocabulary) {}

bool NameCandidates::IsKnown(const Token& token) const {
  std::string text = absl::AsciiStrToLower(token.text);
  while (!text.empty() && text.ends_with('!')) text.pop_back();
  if (vocabulary_.known.contains(text)) return true;
  // "i.e", "p.m"
  std::string letters = text;
  std::erase(letters, '.');
  if (letters.size() < text.size() && letters.size() < 4 && vocabulary_.known.contains(letters)) {
    return true;
  }
  if (text.ends_with("n't")) return true;
  const std::size_t apostrophe = text.find('\'');
  if (apostrophe != text.npos && vocabulary_.known.contains(text.substr(0, apostrophe)))
    return true;
  // A hyphen joins words, "re-enable", "log-in", but "Welcome-1" is a password.
  const std::size_t hyphen = text.find('-');
  if (hyphen == text.npos || hyphen == 0 || ShapeOf(text).digit) return false;
  // "Re-roled", "sign-ins"
  static const WordSet kPrefixes = {"re", "un", "non", "pre", "self", "anti"};
  const std::string head = text.substr(0, hyphen);
  std::string tail = text.substr(hyphen + 1);
  if (kPrefixes.contains(head) && (tail.ends_with("ed") || tail.ends_with("ing"))) return true;
  if (tail.ends_with('s') && !vocabulary_.known.contains(tail)) tail.pop_back();
  return vocabulary_.known.contains(head) && vocabulary_.known.contains(tail) &&
         !FollowsNaming(token);
}

bool NameCandidates::MayBeSlip(const Token& token) const {
  if (LooksLikeValue(token) || ShapeOf(token.text).dash || token.text.empty()) return false;
  const std::string text = absl::AsciiStrToLower(token.text);
  if (vocabulary_.known.contains(text) || vocabulary_.english.contains(text)) return false;
  // No slip changes the first letter.
  const std::string first = text.substr(0, 1);
  const auto has_near = [&](const WordSet& words) {
    const auto near = std::find_if(words.lower_bound(first), words.end(), [&](const auto& word) {
      return !word.starts_with(first) || IsNearly(text, word);
    });
    return near != words.end() && near->starts_with(first);
  };
  return has_near(vocabulary_.known) || has_near(vocabulary_.english);
}

bool NameCandidates::FollowsNaming(const Token& token) const {
  static const WordSet kNaming = {"user", "username", "account", "name",   "called",    "named",
                                  "pw",   "password", "pwd",     "passwd", "passphrase"};
  static const WordSet kCopulas = {"is", "was", "be", "now", "currently"};
  std::size_t at = token.first_word;
  while (at > 0 && kCopulas.contains(sentence_.TextAt(at - 1))) --at;
  return at > 0 && kNaming.contains(sentence_.TextAt(at - 1));
}

std::vector<std::size_t> NameCandidates::Find(const GoalSentence& rules,
                                              const std::vector<NameMatch>& attributes) const {
  const std::vector<CueMatch> choices = ChoicesIn(sentence_, rules);
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < sentence_.tokens().size(); ++i) {
    const Token& token = sentence_.tokens()[i];
    const bool is_choice =
        std::any_of(choices.begin(), choices.end(), [&token](const CueMatch& match) {
          return match.begin <= token.first_word && token.end_word <= match.end;
        });
    const bool is_address =
        token.kind == TokenKind::kUrl || token.kind == TokenKind::kVersion ||
        (token.kind == TokenKind::kHost && ShapeOf(token.text).digit && !ShapeOf(token.text).upper);
    if (is_address || IsOfAttribute(token, attributes) || is_choice) continue;
    const bool is_word = token.kind != TokenKind::kQuoted && IsKnown(token) && !IsNameOfUser(i);
    const TokenShape shape = ShapeOf(token.text);
    const bool bare = !shape.lower && !shape.upper && (!shape.digit || token.text.size() < 3);
    const bool is_role = absl::EqualsIgnoreCase(token.text, "readonly");
    if (is_word || is_role || bare || token.text.size() < 2) continue;
    if (shape.sign && token.text.find('*') != token.text.npos &&
        token.text.find("invalid") != token.text.npos) {
      continue;
    }
    candidates.push_back(i);
  }
  constexpr std::size_t kMost = 24;
  if (candidates.size() > kMost) candidates.resize(kMost);
  return candidates;
}

void NameCandidates::TakeOnlyOneLeft(const std::vector<const ValueRule*>& rules,
                                     const std::vector<std::size_t>& candidates,
                                     std::vector<std::optional<std::size_t>>& tokens) const {
  std::vector<std::size_t> left;
  for (const std::size_t candidate : candidates) {
    const bool taken = std::find(tokens.begin(), tokens.end(), candidate) != tokens.end();
    if (!taken) left.push_back(candidate);
  }
  const auto reduce = [&](const auto& is_weak) {
    std::vector<std::size_t> strong;
    std::remove_copy_if(left.begin(), left.end(), std::back_inserter(strong), is_weak);
    if (!strong.empty()) left = std::move(strong);
  };
  reduce([&](std::size_t candidate) {
    const Token& token = sentence_.tokens()[candidate];
    const TokenShape shape = ShapeOf(token.text);
    return !token.meant.empty() || !shape.lower ||
           vocabulary_.english.contains(absl::AsciiStrToLower(token.text));
  });
  if (left.size() > 1) {
    reduce([&](std::size_t candidate) {
      const Token& token = sentence_.tokens()[candidate];
      return !LooksLikeValue(token) && !ShapeOf(token.text).dash;
    });
  }
  const auto open = std::find(tokens.begin(), tokens.end(), std::nullopt);
  if (left.size() != 1 || open == tokens.end()) return;
  const auto rule = static_cast<std::size_t>(open - tokens.begin());
  const bool only = std::find(open + 1, tokens.end(), std::nullopt) == tokens.end();
  if (!only || rules[rule]->kind != "user" || rules[rule]->optional) return;
  if (!rules[rule]->shaped) *open = left.front();
}

Json NameCandidates::Administrator(const Json& captured) const {
  for (std::size_t i = 0; i < sentence_.tokens().size(); ++i) {
    const Token& token = sentence_.tokens()[i];
    const std::string name = absl::AsciiStrToLower(token.text);
    const bool has_value_behind =
        i + 1 < sentence_.tokens().size() &&
        (sentence_.tokens()[i + 1].text == "with" || LooksLikeValue(sentence_.tokens()[i + 1]));
    const bool is_owner = i > 0 && sentence_.tokens()[i - 1].text == "of";
    const bool is_named = name == "admin" && (has_value_behind || is_owner || StandsAsName(i));
    if (is_named || name == "root" || name == "administrator") return token.text;
  }
  return captured;
}

bool NameCandidates::IsNameOfUser(std::size_t index) const {
  static const WordSet kNever = {"operator", "operators",  "administrator",
                                 "admin",    "root",       "readonly",
                                 "role",     "user",       "account",
                                 "the",      "a",          "an",
                                 "this",     "that",       "these",
                                 "it",       "its",        "new",
                                 "old",      "own",        "my",
                                 "our",      "your",       "their",
                                 "with",     "session",    "sessions",
                                 "by",       "using",      "password",
                                 "pw",       "his",        "her",
                                 "each",     "all",        "one",
                                 "another",  "local",      "event",
                                 "us",       "me",         "him",
                                 "them",     "server",     "machine",
                                 "system",   "monitoring", "and",
                                 "or",       "on",         "then",
                                 "mistake",  "accident",   "error",
                                 "chance",   "oversight",  "default",
                                 "hand",     "works",      "succeeds",
                                 "says",     "fails",      "shows"};
  const std::string name = absl::AsciiStrToLower(sentence_.tokens()[index].text);
  // "The account removed", "It's"
  if (name.ends_with("ed") || name.find('\'') != name.npos) return false;
  return !kNever.contains(name) && StandsAsName(index);
}

bool NameCandidates::StandsAsName(std::size_t index) const {
  static const WordSet kBefore = {"as",      "by",    "administrator", "under", "user",  "username",
                                  "account", "named", "like",          "use",   "login", "called",
                                  "for"};
  static const WordSet kAfter = {"with", "password", "pw", "passwd", "pwd", "pass", "using", "and"};
  const std::vector<Token>& tokens = sentence_.tokens();
  if (index == 0 || tokens[index - 1].clause != tokens[index].clause ||
      !kBefore.contains(absl::AsciiStrToLower(tokens[index - 1].text))) {
    return false;
  }
  if (index + 1 == tokens.size() || tokens[index + 1].clause != tokens[index].clause) return true;
  const Token& next = tokens[index + 1];
  return kAfter.contains(absl::AsciiStrToLower(next.text)) || LooksLikeValue(next);
}

}  // namespace shoal::intent
