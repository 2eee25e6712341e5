// SPDX-License-Identifier: Apache-2.0
#include "text/intent/goal_sentence.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "redfish/goals/goal_definition.h"
#include "text/intent/clause.h"

namespace shoal::intent {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 9> kKinds = {
    "tag", "user", "password", "host", "url", "version", "attribute", "boot_option", "choice"};

// Reads the keys of one table; the first error is kept.
class RuleReader {
 public:
  RuleReader(std::string where, const Json& table) : where_(std::move(where)), table_(table) {
    if (!table.is_object()) Fail("needs a table");
  }

  const Json& At(const char* key) {
    static const Json kNone;
    known_.insert(key);
    return table_.is_object() && table_.contains(key) ? table_.at(key) : kNone;
  }
  std::string Text(const char* key) {
    const Json& value = At(key);
    if (value.is_string()) return value;
    if (!value.is_null()) Fail(std::string("\"") + key + "\" needs a text");
    return "";
  }
  bool Boolean(const char* key) {
    const Json& value = At(key);
    if (!value.is_null() && !value.is_boolean()) {
      Fail(std::string("\"") + key + "\" needs true or false");
    }
    return value.is_boolean() && value.get<bool>();
  }
  std::vector<Cue> Cues(const char* key) {
    std::vector<Cue> cues;
    const Json& value = At(key);
    if (!value.is_null() && !value.is_array()) Fail(std::string("\"") + key + "\" needs texts");
    if (!value.is_array()) return cues;
    for (const Json& text : value) {
      if (text.is_string()) {
        cues.emplace_back(text.get<std::string>());
      } else {
        Fail(std::string("\"") + key + "\" needs texts");
      }
    }
    return cues;
  }
  // Returns a reader for each table in the table `key`.
  std::vector<std::pair<std::string, RuleReader>> Tables(const char* key) {
    std::vector<std::pair<std::string, RuleReader>> readers;
    const Json& tables = At(key);
    if (!tables.is_null() && !tables.is_object()) Fail(std::string("\"") + key + "\" needs tables");
    if (!tables.is_object()) return readers;
    for (const auto& [name, table] : tables.items()) {
      readers.emplace_back(name, RuleReader(where_ + " " + key + "." + name, table));
    }
    return readers;
  }
  void Fail(const std::string& what) {
    if (status_.ok()) status_ = runtime::InvalidArgument(where_ + ": " + what);
  }
  void Merge(const absl::Status& status) { status_.Update(status); }
  absl::Status Finish() {
    if (!table_.is_object()) return status_;
    for (const auto& [key, value] : table_.items()) {
      if (!known_.contains(key)) Fail("unknown key \"" + key + "\"");
    }
    return status_;
  }

 private:
  const std::string where_;
  const Json& table_;
  std::set<std::string, std::less<>> known_;
  absl::Status status_;
};

// Returns whether a match belongs to an occasion of which its clause tells: "after the disk swap
// somebody reshuffled the list". In "after the reboot downgrade it" it is a command.
bool IsOfOccasion(const Sentence& sentence, const CueMatch& match) {
  static const WordSet kOccasions = {"after", "since", "following", "during"};
  static const WordSet kArticles = {"the", "a", "an", "our", "my", "this", "last", "yesterday's"};
  static const WordSet kObjects = {"it", "them", "the", "a", "this", "that", "our", "all"};
  constexpr std::size_t kReach = 4;
  const std::size_t clause = sentence.ClauseOf(match.begin);
  const bool has_object = match.end < sentence.words().size() &&
                          sentence.ClauseOf(match.end) == clause &&
                          kObjects.contains(sentence.TextAt(match.end));
  if (has_object || kObjects.contains(sentence.TextAt(match.end - 1))) return false;
  for (std::size_t back = 2; back <= std::min(kReach, match.begin); ++back) {
    const std::size_t at = match.begin - back;
    if (sentence.ClauseOf(at) != clause) return false;
    if (!kOccasions.contains(sentence.TextAt(at))) continue;
    return kArticles.contains(sentence.TextAt(at + 1)) && TellsOfPast(sentence, clause);
  }
  return false;
}

}  // namespace

bool IsNameKind(const std::string& kind) {
  return kind == "tag" || kind == "user" || kind == "password";
}

absl::StatusOr<GoalSentence> GoalSentence::Read(const redfish::Goal& goal) {
  GoalSentence rules;
  RuleReader reader("goal " + goal.name() + " sentence", goal.definition().sentence);
  rules.about_ = reader.Cues("about");
  rules.never_ = reader.Cues("never");
  rules.harmless_ = reader.Cues("harmless");
  for (auto& [name, table] : reader.Tables("values")) {
    ValueRule rule;
    rule.name = name;
    rule.kind = table.Text("kind");
    if (std::find(kKinds.begin(), kKinds.end(), rule.kind) == kKinds.end()) {
      table.Fail("no kind \"" + rule.kind + "\"");
    }
    rule.before = table.Cues("before");
    rule.after = table.Cues("after");
    rule.optional = table.Boolean("optional");
    rule.shaped = table.Boolean("shaped");
    rule.value = table.Text("value");
    rule.file = table.Text("file");
    rule.host = table.Boolean("host");
    rule.target = table.Text("target");
    rule.follows = table.Text("follows");
    if (const std::string said = table.Text("said"); !said.empty()) rule.said = Cue(said);
    reader.Merge(table.Finish());
    rules.values_.push_back(std::move(rule));
  }
  for (const ValueRule& rule : rules.values_) {
    const bool is_there =
        std::any_of(rules.values_.begin(), rules.values_.end(), [&rule](const ValueRule& other) {
          return other.name == rule.follows && IsNameKind(other.kind) && IsNameKind(rule.kind);
        });
    if (!rule.follows.empty() && !is_there) {
      reader.Fail("values." + rule.name + " cannot follow \"" + rule.follows + "\"");
    }
  }
  for (auto& [name, table] : reader.Tables("targets")) {
    TargetRule rule{name, Cue(table.Text("said")), table.Text("state"), table.Boolean("needed")};
    if (!rule.state.empty() && rule.state != "on" && rule.state != "off") {
      table.Fail("\"state\" is \"on\" or \"off\"");
    }
    reader.Merge(table.Finish());
    rules.targets_.push_back(std::move(rule));
  }
  SHOAL_RETURN_IF_ERROR(reader.Finish());
  return rules;
}

double GoalSentence::About(const Sentence& sentence) const {
  if (about_.empty()) return 0.5;
  const auto said = std::count_if(about_.begin(), about_.end(),
                                  [&](const Cue& cue) { return cue.IsAffirmed(sentence); });
  return static_cast<double>(said) / static_cast<double>(about_.size());
}

bool GoalSentence::SaysBefore(const Sentence& sentence, std::size_t at) const {
  return std::any_of(about_.begin(), about_.end(), [&](const Cue& cue) {
    const std::vector<CueMatch> said = cue.FindAll(sentence);
    return std::any_of(said.begin(), said.end(), [&](const CueMatch& match) {
      return match.end <= at && sentence.ClauseOf(match.begin) == sentence.ClauseOf(at);
    });
  });
}

bool GoalSentence::Covers(const Sentence& sentence, std::size_t begin, std::size_t end) const {
  return std::any_of(about_.begin(), about_.end(), [&](const Cue& cue) {
    const std::vector<CueMatch> said = cue.FindAll(sentence);
    return std::any_of(said.begin(), said.end(), [&](const CueMatch& match) {
      return match.begin == begin && match.end == end;
    });
  });
}

bool GoalSentence::IsBarred(const Sentence& sentence, const std::set<std::size_t>& values) const {
  std::vector<CueMatch> harmless;
  for (const Cue& cue : harmless_) {
    const std::vector<CueMatch> said = cue.FindAll(sentence);
    harmless.insert(harmless.end(), said.begin(), said.end());
  }
  const auto matters = [&](const CueMatch& match) {
    const bool is_harmless =
        std::any_of(harmless.begin(), harmless.end(), [&match](const CueMatch& around) {
          return around.begin <= match.begin && match.end <= around.end;
        });
    return !is_harmless && !values.contains(sentence.TokenOf(match.begin)) &&
           !TellsState(sentence, match) && !IsOfOccasion(sentence, match);
  };
  return std::any_of(never_.begin(), never_.end(), [&](const Cue& cue) {
    const std::vector<CueMatch> said = cue.Affirmed(sentence);
    return std::any_of(said.begin(), said.end(), matters);
  });
}

}  // namespace shoal::intent
