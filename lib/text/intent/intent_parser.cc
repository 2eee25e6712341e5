// SPDX-License-Identifier: Apache-2.0
#include "text/intent/intent_parser.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "redfish/goals/goal_definition.h"
#include "text/bpe/code_points.h"
#include "text/intent/clause.h"
#include "text/intent/request.h"
#include "text/intent/token_shape.h"

namespace shoal::intent {
namespace {

using Json = nlohmann::json;

// What cues and values count beside the classifier, in nats.
constexpr double kAbout = 5.0;
constexpr double kBarred = 5.0;
constexpr double kMisfit = 3.0;
constexpr double kMissing = 1.5;
constexpr double kComplete = 1.0;
// The least share of cues, and the least probability, of a sentence that is understood.
constexpr double kLeastAbout = 0.99;
constexpr double kLeastScore = 0.5;
// The same where the classifier is sure and all values are there.
constexpr double kLeastAboutWhenSure = 0.5;
constexpr double kSure = 0.5;
// The same where the goal has no values.
constexpr double kVerySure = 0.95;
// It is not sure of fewer words.
constexpr std::size_t kFewWords = 4;
// A sentence that says all cues and values may be so unlikely by the classifier alone.
constexpr double kLeastProbability = 0.00005;
// A sentence that says all cues may mention other things where the goal is at least so likely.
constexpr double kLeastWithOtherThings = 0.1;
// How much less likely it is that a sentence asks for nothing when it says all that a goal needs.
constexpr double kFits = 7.0;
constexpr std::size_t kAlternatives = 3;
// The least probability of a goal that a part of a sentence asks for.
constexpr double kLeastPartScore = 0.9;
// The same beside a goal that explains the whole.
constexpr double kLeastScoreOfMore = 0.97;
// Keeps logarithms finite.
constexpr double kTiny = 1e-6;

// Returns whether a text has underscores, and between them a word that is not known.
bool HasUnknownPart(const std::string& text, const WordSet& known) {
  const std::vector<std::string> parts = absl::StrSplit(text, '_', absl::SkipEmpty());
  return parts.size() > 1 && std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
           return !known.contains(absl::AsciiStrToLower(part));
         });
}

// Returns whether a quotation, or what looks like a name or a password, is neither among `found`
// nor known.
bool LeavesValues(const Sentence& sentence, const std::set<std::size_t>& found,
                  const WordSet& known) {
  constexpr std::size_t kShort = 4;
  const std::vector<Token>& tokens = sentence.tokens();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (found.contains(i)) continue;
    if (tokens[i].kind == TokenKind::kQuoted) return true;
    const TokenShape shape = ShapeOf(tokens[i].text);
    const bool is_name = !shape.upper && HasUnknownPart(tokens[i].text, known);
    const bool is_value = tokens[i].kind == TokenKind::kWord &&
                          (is_name || (shape.digit && (shape.dash || shape.sign))) &&
                          tokens[i].text.size() > kShort;
    std::string letters = absl::AsciiStrToLower(tokens[i].text);
    std::erase_if(letters, [](unsigned char byte) { return !absl::ascii_isalnum(byte); });
    if (is_value && !known.contains(letters)) return true;
  }
  return false;
}

// Returns whether a short sentence has a noun that no phrasing and no list of words has: "turn on
// the radio". In longer ones, and beside the server, such nouns are only surroundings.
bool NamesUnknownThing(const Sentence& sentence, const WordSet& known) {
  static const std::set<std::string, std::less<>> kArticles = {"the", "a",   "an",
                                                               "my",  "our", "your"};
  constexpr std::size_t kShort = 6;
  if (sentence.words().size() > kShort || SpeaksOfServer(sentence)) return false;
  for (std::size_t i = 0; i + 1 < sentence.tokens().size(); ++i) {
    if (!kArticles.contains(absl::AsciiStrToLower(sentence.tokens()[i].text))) continue;
    const Token& noun = sentence.tokens()[i + 1];
    if (noun.kind != TokenKind::kWord || LooksLikeValue(noun)) continue;
    const std::string word = absl::AsciiStrToLower(noun.text);
    // "A controlled shutdown" has its noun later.
    if (word.ends_with("ed")) continue;
    const bool is_known = std::any_of(known.begin(), known.end(), [&word](const auto& one) {
      return IsNearly(word, one) || word == one + "s" || word.starts_with(one + "-");
    });
    if (!is_known) return true;
  }
  return false;
}

// Returns whether a foreign thing is what a command is about, right behind its verb or before what
// it needs: "start the coffee machine", "the router must be powered off".
bool CommandsOtherThing(const Sentence& sentence, const std::vector<Cue>& foreign) {
  static const WordSet kVerbs = {"start", "stop",   "restart", "reboot", "boot",
                                 "reset", "power",  "wake",    "turn",   "switch",
                                 "shut",  "update", "upgrade", "flash"};
  static const WordSet kDirections = {"on", "off", "up", "down"};
  static const WordSet kBetween = {"the", "our", "my", "a", "an", "this", "that", "old", "new"};
  static const WordSet kNeeding = {"needs", "need", "must", "should", "has", "have", "shall"};
  static const WordSet kServers = {"server", "host", "box", "node", "system", "computer"};
  const std::size_t count = sentence.words().size();
  const auto is_inside = [&](std::size_t word, const CueMatch& match) {
    return word < count && sentence.ClauseOf(word) == sentence.ClauseOf(match.begin);
  };
  return std::any_of(foreign.begin(), foreign.end(), [&](const Cue& thing) {
    const std::vector<CueMatch> said = thing.Affirmed(sentence);
    return std::any_of(said.begin(), said.end(), [&](const CueMatch& match) {
      if (is_inside(match.end, match) && kServers.contains(sentence.TextAt(match.end))) {
        return false;
      }
      std::size_t at = match.begin;
      bool has_article = false;
      while (at > 0 && is_inside(at - 1, match) && kBetween.contains(sentence.TextAt(at - 1))) {
        has_article = true;
        --at;
      }
      // "On my laptop" has no verb, "turn on my laptop" has one.
      const std::size_t verb =
          at > 1 && kDirections.contains(sentence.TextAt(at - 1)) ? at - 1 : at;
      const bool is_object = has_article && verb > 0 && is_inside(verb - 1, match) &&
                             kVerbs.contains(sentence.TextAt(verb - 1));
      std::size_t behind = match.end;
      if (is_inside(behind, match) && sentence.TextAt(behind) == "machine") ++behind;
      const bool is_first = at == 0 || !is_inside(at - 1, match);
      const bool is_subject = has_article && is_first && is_inside(behind, match) &&
                              kNeeding.contains(sentence.TextAt(behind));
      return is_object || is_subject;
    });
  });
}

// Returns the values that the requirements allow properties to have, by "<uri> <pointer>".
std::map<std::string, std::set<std::string>> WantedBy(const Intent& intent) {
  std::map<std::string, std::set<std::string>> wanted;
  for (const Json& condition : intent.requirement->json().at("all")) {
    const bool is_one = condition.contains("equals");
    if (!is_one && !condition.contains("in")) continue;
    const Json& terms = condition.at(is_one ? "equals" : "in");
    std::set<std::string>& values =
        wanted[terms.value("uri", "") + " " + terms.value("pointer", "")];
    if (is_one) {
      values.insert(terms.value("value", Json()).dump());
    } else {
      for (const Json& value : terms.value("values", Json::array())) values.insert(value.dump());
    }
  }
  return wanted;
}

// Returns whether a property would have to have two values.
bool Contradict(const Intent& one, const Intent& other) {
  const auto wanted = WantedBy(other);
  const auto first = WantedBy(one);
  return std::any_of(first.begin(), first.end(), [&wanted](const auto& property) {
    const auto found = wanted.find(property.first);
    const std::set<std::string>& values = property.second;
    return found != wanted.end() &&
           std::none_of(values.begin(), values.end(), [&found](const std::string& value) {
             return found->second.contains(value);
           });
  });
}

// Returns whether two intents are one goal with other values: the same ones are given, and differ.
bool IsOtherOfGoal(const Intent& one, const Intent& other) {
  return one.values.size() == other.values.size() && one.values != other.values &&
         std::equal(one.values.begin(), one.values.end(), other.values.begin(),
                    [](const auto& a, const auto& b) { return a.first == b.first; });
}

// Returns whether none of these goals stands among the others but with other values, and none is
// against one there.
bool GoTogether(const std::vector<Intent>& some, const std::vector<Intent>& others) {
  return std::none_of(some.begin(), some.end(), [&others](const Intent& one) {
    return std::any_of(others.begin(), others.end(), [&one](const Intent& other) {
      return (one.goal == other.goal && !IsOtherOfGoal(one, other)) || Contradict(one, other);
    });
  });
}

// Returns whether `parts` ask for what the whole asks for, and surely for something else, too.
bool AsksForMore(const Intent& whole, const std::vector<Intent>& parts) {
  bool has_whole = false;
  for (const Intent& part : parts) {
    const bool is_whole = part.goal == whole.goal && part.values == whole.values;
    if (!is_whole && part.score < kLeastScoreOfMore) return false;
    has_whole |= is_whole;
  }
  return has_whole;
}

std::string Listed(const std::vector<std::string>& names) {
  std::string listed;
  for (const std::string& name : names) listed += (listed.empty() ? "" : ", ") + name;
  return listed;
}

}  // namespace

Json ToJson(const Intent& intent) {
  Json json = {{"goal", intent.goal}, {"id", intent.goal_id}, {"score", intent.score}};
  if (!intent.refusal.empty()) json["refusal"] = intent.refusal;
  json["understood"] = intent.refusal.empty();
  json["parameters"] = intent.values;
  if (!intent.targets.empty()) json["targets"] = intent.targets;
  if (intent.requirement) json["predicates"] = intent.requirement->json().at("all");
  json["alternatives"] = Json::array();
  for (const auto& [name, score] : intent.alternatives) {
    json["alternatives"].push_back({{"goal", name}, {"score", score}});
  }
  return json;
}

Json ToJson(const std::vector<Intent>& intents) {
  if (intents.size() == 1) return ToJson(intents.front());
  Json json = {{"understood", true}, {"goals", Json::array()}};
  for (const Intent& intent : intents) {
    json["goals"].push_back(ToJson(intent));
    json["goals"].back()["sentence"] = intent.text;
  }
  return json;
}

absl::StatusOr<std::unique_ptr<const IntentParser>> IntentParser::Create(
    std::shared_ptr<const IntentLanguage> language, const redfish::Capture& capture) {
  CaptureNames names(capture);
  WordSet others = language->vocabulary.known;
  others.insert(language->vocabulary.english.begin(), language->vocabulary.english.end());
  names.AddWords(others);
  Speller speller(language->abbreviations, language->telling, language->phrased, std::move(others));
  std::vector<Reader> readers;
  for (std::size_t g = 0; g < language->suite.size(); ++g) {
    const std::shared_ptr<const redfish::Goal>& goal = language->suite[g];
    auto applied = redfish::AppliedGoal::Create(goal, capture, language->suite);
    if (!applied.ok() && !absl::IsNotFound(applied.status())) return applied.status();
    readers.push_back({goal, &language->rules[g], std::move(applied)});
  }
  return std::unique_ptr<const IntentParser>(new IntentParser(
      std::move(language), std::move(readers), std::move(names), std::move(speller)));
}

absl::StatusOr<std::unique_ptr<const IntentParser>> IntentParser::Create(
    const std::string& folder, const redfish::Capture& capture,
    const tokens::TextEncoder& encoder) {
  SHOAL_ASSIGN_OR_RETURN(auto language, ReadIntentLanguage(folder, encoder));
  return Create(std::move(language), capture);
}

IntentParser::IntentParser(std::shared_ptr<const IntentLanguage> language,
                           std::vector<Reader> readers, CaptureNames names, Speller speller)
    : language_(std::move(language)),
      readers_(std::move(readers)),
      names_(std::move(names)),
      speller_(std::move(speller)) {}

std::set<std::size_t> IntentParser::AttributeWords(const Sentence& sentence) const {
  std::set<std::size_t> named;
  const std::vector<NameMatch> matches = names_.Attributes(sentence);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const NameMatch& match = matches[i];
    const std::size_t next =
        i + 1 < matches.size() ? matches[i + 1].begin : sentence.words().size();
    const std::size_t last = i > 0 ? matches[i - 1].end : 0;
    const bool one_token = sentence.TokenOf(match.begin) == sentence.TokenOf(match.end - 1);
    const bool has_value = names_.Value(sentence, match.name, match.end, next, true).has_value() ||
                           names_.Value(sentence, match.name, last, match.begin, true).has_value();
    if (!one_token || !has_value) continue;
    const bool is_goal = std::any_of(readers_.begin(), readers_.end(), [&](const Reader& reader) {
      return reader.rules->Covers(sentence, match.begin, match.end);
    });
    if (is_goal) continue;
    for (std::size_t word = match.begin; word < match.end; ++word) named.insert(word);
  }
  return named;
}

IntentParser::Heard IntentParser::Hear(const Sentence& sentence) const {
  const std::vector<Token>& tokens = sentence.tokens();
  const std::vector<NameMatch> options = names_.BootOptions(sentence);
  return {.sentence = sentence,
          .plain = sentence.WithAttributes(AttributeWords(sentence)),
          .has_url = std::any_of(tokens.begin(), tokens.end(),
                                 [](const Token& token) { return token.kind == TokenKind::kUrl; }),
          .has_option = !options.empty() && options.front().exact};
}

IntentParser::Reading IntentParser::ReadAs(const Reader& reader, const Heard& heard,
                                           double likely) const {
  const auto& [sentence, plain, has_url, has_option] = heard;
  Reading reading;
  reading.likely = likely;
  reading.about = reader.rules->About(plain);
  reading.weight = std::log(likely + kTiny) - kAbout * (1.0 - reading.about);
  if (reader.applied.ok()) {
    reading.found =
        FindValues(sentence, *reader.rules, **reader.applied, names_, language_->vocabulary);
  }
  reading.barred = reader.rules->IsBarred(plain, reading.found.tokens);
  const auto takes = [&reader](std::string_view kind) {
    const std::vector<ValueRule>& values = reader.rules->values();
    return std::any_of(values.begin(), values.end(),
                       [&](const ValueRule& rule) { return rule.kind == kind; });
  };
  // Addresses, boot options and attributes are said only where a goal takes them.
  reading.barred |= (has_url && !takes("url")) || (has_option && !takes("boot_option"));
  if (reading.barred) reading.weight -= kBarred;
  if (sentence.words() != plain.words() && !takes("attribute")) reading.weight -= kMisfit;
  if (!reader.applied.ok()) return reading;
  const FoundValues& found = reading.found;
  if (found.missing.empty() && !reader.rules->values().empty()) reading.weight += kComplete;
  reading.weight -= kMissing * static_cast<double>(found.missing.size());
  if (!found.misfit.empty()) reading.weight -= kMisfit;
  reading.fits = reading.about >= kLeastAbout && !reading.barred && found.missing.empty() &&
                 found.misfit.empty();
  return reading;
}

bool IntentParser::SpeaksOfOtherThings(const Sentence& sentence, const Reading& reading) const {
  return std::any_of(language_->foreign.begin(), language_->foreign.end(), [&](const Cue& thing) {
    const std::vector<CueMatch> said = thing.Affirmed(sentence);
    return std::any_of(said.begin(), said.end(), [&](const CueMatch& match) {
      const std::size_t token = sentence.TokenOf(match.end - 1);
      // "Monitoring" is no monitor.
      return !reading.found.tokens.contains(token) &&
             !sentence.TextAt(match.end - 1).ends_with("ing") &&
             !IsSurroundings(sentence, match.begin) &&
             !(reading.fits && IsBackground(sentence, sentence.ClauseOf(match.begin)));
    });
  });
}

std::string IntentParser::RefusalOf(const Reader& reader, const Reading& reading,
                                    const Sentence& sentence, const Intent& intent) const {
  if (AsksForNoChange(sentence)) return "it asks for no change";
  if (AsksForLater(sentence, *reader.rules)) return "it is to happen later, or on a condition";
  const bool is_foreign = NamesUnknownThing(sentence, language_->vocabulary.known) ||
                          SpeaksOfOtherThings(sentence, reading);
  const bool gives_values = !reading.found.values.empty();
  const bool only_mentions =
      reading.fits && !CommandsOtherThing(sentence, language_->foreign) &&
      reading.likely >= kLeastWithOtherThings &&
      (gives_values || SpeaksOfServer(sentence) || reading.likely >= kVerySure);
  if (is_foreign && !only_mentions) return "it is about something that no goal is about";
  // The classifier may be sure of a sentence that says things in ways of its own.
  const bool has_values = !reader.rules->values().empty() && reading.found.missing.empty();
  const std::vector<ValueRule>& rules = reader.rules->values();
  const bool takes_care =
      std::any_of(rules.begin(), rules.end(), [](const ValueRule& rule) { return rule.shaped; });
  const bool is_sure = has_values && !takes_care && sentence.words().size() >= kFewWords &&
                       reading.likely >= kSure && reading.about >= kLeastAboutWhenSure;
  const bool needs_none = reader.rules->values().empty() && reading.likely >= kVerySure &&
                          reading.about >= kLeastAboutWhenSure;
  const bool is_about = reading.about >= kLeastAbout || is_sure || needs_none;
  if (!is_about || reading.likely < kLeastProbability) {
    return "no goal fits; the nearest is " + intent.goal;
  }
  if (reading.barred) return "it asks for something else than " + intent.goal;
  if (!reader.applied.ok()) return runtime::Message(reader.applied.status());
  if (!reading.found.misfit.empty()) return intent.goal + ": " + reading.found.misfit;
  if (!reading.found.missing.empty()) {
    return intent.goal + " needs " + Listed(reading.found.missing);
  }
  if (intent.score >= kLeastScore) return "";
  std::string refusal = "it may be " + intent.goal;
  if (!intent.alternatives.empty()) refusal += " or " + intent.alternatives.front().first;
  return refusal;
}

absl::StatusOr<Intent> IntentParser::Parse(std::string_view text) const {
  Intent intent;
  intent.text = text;
  intent.refusal = "the sentence is not UTF-8";
  if (!tokens::IsWellFormed(text)) return intent;
  intent.refusal = "it has no words";
  const Sentence sentence(text, &speller_);
  if (sentence.words().empty()) return intent;
  const Heard heard = Hear(sentence);
  SHOAL_ASSIGN_OR_RETURN(const std::vector<double> likely,
                         language_->classifier.Probabilities(heard.plain));
  std::vector<Reading> readings;
  std::vector<std::size_t> order;
  for (std::size_t g = 0; g < readers_.size(); ++g) {
    readings.push_back(ReadAs(readers_[g], heard, likely[g]));
    order.push_back(g);
  }
  const bool fits = std::any_of(readings.begin(), readings.end(),
                                [](const Reading& reading) { return reading.fits; });
  double sum = (likely.back() + kTiny) * (fits ? std::exp(-kFits) : 1.0);
  for (const Reading& reading : readings) sum += std::exp(reading.weight);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return readings[a].weight > readings[b].weight;
  });
  const Reader& reader = readers_[order.front()];
  const Reading& best = readings[order.front()];
  intent.goal_id = reader.goal->id();
  intent.goal = reader.goal->name();
  intent.score = std::exp(best.weight) / sum;
  for (std::size_t i = 1; i < order.size() && i <= kAlternatives; ++i) {
    intent.alternatives.emplace_back(readers_[order[i]].goal->name(),
                                     std::exp(readings[order[i]].weight) / sum);
  }
  intent.values = best.found.values;
  intent.leaves_values = LeavesValues(sentence, best.found.tokens, language_->vocabulary.known);
  intent.targets = best.found.targets;
  intent.refusal = RefusalOf(reader, best, sentence, intent);
  if (!intent.refusal.empty()) return intent;
  auto requirement = (*reader.applied)->RequirementWith(intent.values, intent.targets);
  if (requirement.ok()) {
    intent.requirement = *std::move(requirement);
  } else {
    intent.refusal = intent.goal + ": " + runtime::Message(requirement.status());
  }
  return intent;
}

absl::StatusOr<std::vector<Intent>> IntentParser::ParseGoals(std::string_view text) const {
  SHOAL_ASSIGN_OR_RETURN(Intent whole, Parse(text));
  if (!tokens::IsWellFormed(text)) return std::vector<Intent>{std::move(whole)};
  const std::vector<Piece> pieces = PiecesOf(text);
  // A goal with parts is what they ask for together.
  const bool is_conjunction =
      whole.refusal.empty() &&
      std::any_of(readers_.begin(), readers_.end(), [&whole](const Reader& reader) {
        const auto& situations = reader.goal->definition().situations;
        return reader.goal->name() == whole.goal && !situations.empty() &&
               !situations.front().of.empty();
      });
  const bool is_divisible = !is_conjunction && pieces.size() > 1 &&
                            pieces.size() <= kMaximumPieces &&
                            std::none_of(pieces.begin(), pieces.end(), [text](const Piece& piece) {
                              return IsNoRequest(text.substr(piece.begin, piece.end - piece.begin));
                            });
  std::vector<Intent> goals;
  if (is_divisible) {
    SHOAL_ASSIGN_OR_RETURN(goals, GoalsOf(text, pieces));
  }
  if (goals.size() > 1 && (!whole.refusal.empty() || AsksForMore(whole, goals))) return goals;
  goals.clear();
  goals.push_back(std::move(whole));
  return goals;
}

absl::StatusOr<std::vector<Intent>> IntentParser::GoalsOf(std::string_view text,
                                                          const std::vector<Piece>& pieces) const {
  // spans[first][last] are the goals of the pieces from `first` to `last`; empty where these are
  // not understood.
  const std::size_t count = pieces.size();
  std::vector spans(count, std::vector<std::vector<Intent>>(count));
  for (std::size_t length = 1; length <= count; ++length) {
    for (std::size_t first = 0; first + length <= count; ++first) {
      const std::size_t last = first + length - 1;
      std::vector<Intent>& best = spans[first][last];
      for (std::size_t cut = first; cut < last; ++cut) {
        const std::vector<Intent>& head = spans[first][cut];
        const std::vector<Intent>& tail = spans[cut + 1][last];
        const bool is_fewer = best.empty() || head.size() + tail.size() < best.size();
        if (!is_fewer || head.empty() || tail.empty() || !GoTogether(head, tail)) continue;
        best = head;
        best.insert(best.end(), tail.begin(), tail.end());
      }
      const std::size_t from = pieces[first].begin;
      SHOAL_ASSIGN_OR_RETURN(Intent one, Parse(text.substr(from, pieces[last].end - from)));
      const bool is_understood =
          one.refusal.empty() && one.score >= kLeastPartScore && !one.leaves_values &&
          !(one.values.empty() && PointsBack(one.text)) && !OnlyTells(one.text);
      if (!is_understood || AsksForMore(one, best)) continue;
      best.clear();
      best.push_back(std::move(one));
    }
  }
  return std::move(spans.front().back());
}

}  // namespace shoal::intent
