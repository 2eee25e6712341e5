// SPDX-License-Identifier: Apache-2.0
#include "text/intent/intent_parser.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "redfish/capture/archive.h"
#include "redfish/goals/goal_definition.h"
#include "redfish/goals/phrase_lists.h"

namespace shoal::intent {
namespace {

using Json = nlohmann::json;

// What cues and values count beside the classifier, in nats.
constexpr double kAbout = 5.0;
constexpr double kBarred = 5.0;
constexpr double kMisfit = 3.0;
constexpr double kMissing = 0.7;
constexpr double kComplete = 1.0;
// The least share of cues, and the least probability, of a sentence that is understood.
constexpr double kLeastAbout = 0.99;
constexpr double kLeastScore = 0.5;
// A sentence that says all cues and values may be so unlikely by the classifier alone.
constexpr double kLeastProbability = 0.02;
constexpr std::size_t kAlternatives = 3;

// The words of a phrasing, without values.
void AddKnownWords(std::string_view pattern, KnownWords& known) {
  std::string word;
  bool is_value = false;
  for (const char byte : std::string(pattern) + " ") {
    if (byte == '{') is_value = true;
    const auto letter = static_cast<unsigned char>(byte);
    if (absl::ascii_isalnum(letter) || byte == '\'' || byte == '-') {
      word += absl::ascii_tolower(letter);
      continue;
    }
    if (byte == '}') is_value = false;
    if (!word.empty() && !is_value && byte != '}') known.insert(word);
    word.clear();
  }
}

absl::StatusOr<KnownWords> ReadKnownWords(const std::string& folder,
                                          const redfish::PhrasePattern::Lists& lists,
                                          const redfish::GoalSuite& suite) {
  KnownWords known;
  SHOAL_ASSIGN_OR_RETURN(const std::string text,
                         redfish::ReadWholeFile(folder + "/phrasings/words.txt"));
  for (const auto& line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, "#")) AddKnownWords(std::string(line), known);
  }
  for (const auto& [name, list] : lists) {
    for (const redfish::PhrasePattern& phrase : list) AddKnownWords(phrase.text(), known);
  }
  for (const auto& goal : suite) {
    for (const auto& pattern : goal->train_patterns()) AddKnownWords(pattern.text(), known);
    for (const redfish::GoalTarget& target : goal->definition().targets) {
      for (const auto& pattern : target.phrasings.train) AddKnownWords(pattern.text(), known);
    }
  }
  return known;
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

absl::StatusOr<std::unique_ptr<const IntentParser>> IntentParser::Create(
    const std::string& folder, const redfish::Capture& capture,
    const tokens::TextEncoder& encoder) {
  SHOAL_ASSIGN_OR_RETURN(const redfish::GoalSuite suite, redfish::LoadGoals(folder));
  SHOAL_ASSIGN_OR_RETURN(const redfish::PhrasePattern::Lists lists,
                         redfish::LoadPhraseLists(folder));
  SHOAL_ASSIGN_OR_RETURN(const std::vector<redfish::PhrasePattern> refused,
                         redfish::LoadPhrases(folder, "refused.toml", lists));
  SHOAL_ASSIGN_OR_RETURN(KnownWords known, ReadKnownWords(folder, lists, suite));
  SHOAL_ASSIGN_OR_RETURN(GoalClassifier classifier, GoalClassifier::Train(suite, refused, encoder));
  std::vector<Reader> readers;
  for (const std::shared_ptr<const redfish::Goal>& goal : suite) {
    SHOAL_ASSIGN_OR_RETURN(GoalSentence rules, GoalSentence::Read(*goal));
    auto applied = redfish::AppliedGoal::Create(goal, capture, suite);
    if (!applied.ok() && !absl::IsNotFound(applied.status())) return applied.status();
    readers.push_back({goal, std::move(rules), std::move(applied)});
  }
  return std::unique_ptr<const IntentParser>(new IntentParser(
      std::move(readers), std::move(classifier), CaptureNames(capture), std::move(known)));
}

IntentParser::IntentParser(std::vector<Reader> readers, GoalClassifier classifier,
                           CaptureNames names, KnownWords known)
    : readers_(std::move(readers)),
      classifier_(std::move(classifier)),
      names_(std::move(names)),
      known_(std::move(known)) {}

absl::StatusOr<Intent> IntentParser::Parse(std::string_view text) const {
  const Sentence sentence(text);
  Intent intent;
  intent.refusal = "it has no words";
  if (sentence.words().empty()) return intent;
  intent.refusal = "";
  SHOAL_ASSIGN_OR_RETURN(const std::vector<double> likely, classifier_.Probabilities(sentence));
  struct Reading {
    FoundValues found;
    double about = 0.0;
    bool barred = false;
    double weight = 0.0;
  };
  std::vector<Reading> readings(readers_.size());
  for (std::size_t g = 0; g < readers_.size(); ++g) {
    Reading& reading = readings[g];
    reading.about = readers_[g].rules.About(sentence);
    reading.barred = readers_[g].rules.IsBarred(sentence);
    reading.weight = std::log(likely[g] + 1e-6) - kAbout * (1.0 - reading.about);
    if (reading.barred) reading.weight -= kBarred;
    if (!readers_[g].applied.ok()) continue;
    reading.found = FindValues(sentence, readers_[g].rules, **readers_[g].applied, names_, known_);
    const bool complete = reading.found.missing.empty() && !readers_[g].rules.values().empty();
    if (complete) reading.weight += kComplete;
    reading.weight -= kMissing * static_cast<double>(reading.found.missing.size());
    if (!reading.found.misfit.empty()) reading.weight -= kMisfit;
  }
  const double none = likely.back() + 1e-6;
  double sum = none;
  for (const Reading& reading : readings) sum += std::exp(reading.weight);
  std::vector<std::size_t> order(readers_.size());
  for (std::size_t g = 0; g < order.size(); ++g) order[g] = g;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return readings[a].weight > readings[b].weight; });
  const std::size_t best = order.front();
  const Reading& reading = readings[best];
  const Reader& reader = readers_[best];
  intent.goal_id = reader.goal->id();
  intent.goal = reader.goal->name();
  intent.score = std::exp(reading.weight) / sum;
  for (std::size_t i = 1; i < order.size() && i <= kAlternatives; ++i) {
    intent.alternatives.emplace_back(readers_[order[i]].goal->name(),
                                     std::exp(readings[order[i]].weight) / sum);
  }
  intent.values = reading.found.values;
  intent.targets = reading.found.targets;
  if (reading.about < kLeastAbout || likely[best] < kLeastProbability) {
    intent.refusal = "no goal fits; the nearest is " + intent.goal;
  } else if (reading.barred) {
    intent.refusal = "it asks for something else than " + intent.goal;
  } else if (!reader.applied.ok()) {
    intent.refusal = runtime::Message(reader.applied.status());
  } else if (!reading.found.misfit.empty()) {
    intent.refusal = intent.goal + ": " + reading.found.misfit;
  } else if (!reading.found.missing.empty()) {
    intent.refusal = intent.goal + " needs " + Listed(reading.found.missing);
  } else if (intent.score < kLeastScore) {
    intent.refusal = "it may be " + intent.goal + " or " + intent.alternatives.front().first;
  }
  if (!intent.refusal.empty()) return intent;
  auto requirement = (*reader.applied)->RequirementWith(intent.values, intent.targets);
  if (requirement.ok()) {
    intent.requirement = *std::move(requirement);
  } else {
    intent.refusal = intent.goal + ": " + runtime::Message(requirement.status());
  }
  return intent;
}

}  // namespace shoal::intent
