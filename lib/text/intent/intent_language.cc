// SPDX-License-Identifier: Apache-2.0
#include "text/intent/intent_language.h"

#include <absl/strings/ascii.h>
#include <absl/strings/match.h>
#include <absl/strings/str_split.h>

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "redfish/capture/archive.h"
#include "redfish/goals/goal_definition.h"
#include "redfish/goals/phrase_lists.h"

namespace shoal::intent {
namespace {

using Json = nlohmann::json;

// The words of a phrasing, without values.
void AddKnownWords(std::string_view pattern, WordSet& known) {
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

absl::StatusOr<WordSet> ReadWords(const std::string& path) {
  WordSet words;
  SHOAL_ASSIGN_OR_RETURN(const std::string text, redfish::ReadWholeFile(path));
  for (const auto& line : absl::StrSplit(text, '\n')) {
    if (!absl::StartsWith(line, "#")) AddKnownWords(std::string(line), words);
  }
  return words;
}

// Adds the words of the phrasings.
void AddPhrasedWords(const redfish::PhrasePattern::Lists& lists, const redfish::GoalSuite& suite,
                     WordSet& words) {
  for (const auto& [name, list] : lists) {
    for (const redfish::PhrasePattern& phrase : list) AddKnownWords(phrase.text(), words);
  }
  for (const auto& goal : suite) {
    for (const auto& pattern : goal->train_patterns()) AddKnownWords(pattern.text(), words);
    for (const redfish::GoalTarget& target : goal->definition().targets) {
      for (const auto& pattern : target.phrasings.train) AddKnownWords(pattern.text(), words);
    }
  }
}

// Adds the words of all cues in a goal's [sentence].
void AddCueWords(const Json& sentence, WordSet& words) {
  if (sentence.is_string()) AddKnownWords(sentence.get<std::string>(), words);
  if (!sentence.is_structured()) return;
  for (const Json& part : sentence) AddCueWords(part, words);
}

absl::StatusOr<std::map<std::string, std::string, std::less<>>> ReadAbbreviations(
    const std::string& path) {
  std::map<std::string, std::string, std::less<>> abbreviations;
  SHOAL_ASSIGN_OR_RETURN(const std::string text, redfish::ReadWholeFile(path));
  for (const auto& line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (absl::StartsWith(line, "#")) continue;
    const std::pair<std::string, std::string> pair = absl::StrSplit(line, absl::MaxSplits(": ", 1));
    if (pair.second.empty()) {
      return runtime::InvalidArgument(path + ": \"" + pair.first + "\" stands for nothing");
    }
    abbreviations.insert(pair);
  }
  return abbreviations;
}

}  // namespace

absl::StatusOr<std::shared_ptr<const IntentLanguage>> ReadIntentLanguage(
    const std::string& folder, const tokens::TextEncoder& encoder) {
  SHOAL_ASSIGN_OR_RETURN(redfish::GoalSuite suite, redfish::LoadGoals(folder));
  SHOAL_ASSIGN_OR_RETURN(const redfish::PhrasePattern::Lists lists,
                         redfish::LoadPhraseLists(folder));
  SHOAL_ASSIGN_OR_RETURN(const std::vector<redfish::PhrasePattern> refused,
                         redfish::LoadPhrases(folder, "refused.toml", "sentences", lists));
  SHOAL_ASSIGN_OR_RETURN(const std::vector<redfish::PhrasePattern> things,
                         redfish::LoadPhrases(folder, "refused.toml", "foreign", lists));
  SHOAL_ASSIGN_OR_RETURN(GoalClassifier classifier, GoalClassifier::Train(suite, refused, encoder));
  const auto language = std::make_shared<IntentLanguage>(std::move(classifier));
  for (const redfish::PhrasePattern& thing : things) language->foreign.emplace_back(thing.text());
  const std::string phrasings = folder + "/phrasings/";
  Vocabulary& vocabulary = language->vocabulary;
  SHOAL_ASSIGN_OR_RETURN(vocabulary.known, ReadWords(phrasings + "words.txt"));
  SHOAL_ASSIGN_OR_RETURN(vocabulary.english, ReadWords(phrasings + "english.txt"));
  SHOAL_ASSIGN_OR_RETURN(language->abbreviations,
                         ReadAbbreviations(phrasings + "abbreviations.txt"));
  AddPhrasedWords(lists, suite, language->phrased);
  vocabulary.known.insert(language->phrased.begin(), language->phrased.end());
  for (const std::shared_ptr<const redfish::Goal>& goal : suite) {
    AddCueWords(goal->definition().sentence, language->telling);
    SHOAL_ASSIGN_OR_RETURN(GoalSentence rules, GoalSentence::Read(*goal));
    language->rules.push_back(std::move(rules));
  }
  language->suite = std::move(suite);
  return language;
}

}  // namespace shoal::intent
