// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/goal.h"

#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <system_error>
#include <utility>

#include "redfish/capture/archive.h"
#include "redfish/goals/goal_definition.h"

namespace shoal::redfish {
namespace {

// Returns the X of each "{X}".
std::set<std::string> NamesIn(std::string_view sentence) {
  std::set<std::string> names;
  for (std::size_t begin = 0; (begin = sentence.find('{', begin)) != sentence.npos;) {
    const std::size_t end = sentence.find('}', begin);
    if (end == sentence.npos) break;
    names.emplace(sentence.substr(begin + 1, end - begin - 1));
    begin = end;
  }
  return names;
}

}  // namespace

Goal::Goal(std::unique_ptr<const Definition> definition) : definition_(std::move(definition)) {}
Goal::~Goal() = default;

absl::StatusOr<std::shared_ptr<const Goal>> Goal::Load(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<const Definition> definition,
                         ReadGoalDefinition(path, text));
  return std::shared_ptr<const Goal>(new Goal(std::move(definition)));
}

std::int64_t Goal::id() const { return definition_->id; }
const std::string& Goal::name() const { return definition_->name; }
const std::vector<PhrasePattern>& Goal::train_patterns() const {
  return definition_->phrasings.train;
}
const std::vector<std::string>& Goal::evaluation_phrasings() const {
  return definition_->phrasings.evaluate;
}

absl::StatusOr<std::shared_ptr<const Goal>> Goal::WithEvaluationPhrasings(
    std::vector<std::string> sentences) const {
  if (sentences.empty()) return runtime::InvalidArgument("no sentence");
  const std::vector<std::string>& own = evaluation_phrasings();
  std::map<std::string, std::size_t, std::less<>> uses;
  for (const std::string& sentence : own) {
    for (const std::string& name : NamesIn(sentence)) ++uses[name];
  }
  for (const std::string& sentence : sentences) {
    const std::set<std::string> names = NamesIn(sentence);
    for (const std::string& name : names) {
      if (!uses.contains(name)) {
        return runtime::InvalidArgument("\"" + sentence + "\": the goal has no {" + name + "}");
      }
    }
    for (const auto& [name, count] : uses) {
      if (count < own.size() || names.contains(name)) continue;
      return runtime::InvalidArgument("\"" + sentence + "\" lacks {" + name + "}");
    }
  }
  auto definition = std::make_unique<Definition>(*definition_);
  definition->phrasings.evaluate = std::move(sentences);
  return std::shared_ptr<const Goal>(new Goal(std::move(definition)));
}

std::set<std::string> Goal::TrainTexts(std::size_t limit) const {
  std::set<std::string> texts;
  for (const PhrasePattern& pattern : train_patterns()) pattern.AddTexts(limit, texts);
  return texts;
}

absl::StatusOr<GoalSuite> LoadGoals(const std::string& folder) {
  GoalSuite suite;
  std::error_code error;
  std::filesystem::directory_iterator it(folder, error);
  if (error) return runtime::NotFound("no goals in " + folder + ": " + error.message());
  for (const std::filesystem::directory_iterator end; !error && it != end; it.increment(error)) {
    if (it->path().extension() != ".toml") continue;
    SHOAL_ASSIGN_OR_RETURN(std::shared_ptr<const Goal> goal, Goal::Load(it->path().string()));
    suite.push_back(std::move(goal));
  }
  if (suite.empty()) return runtime::NotFound("no goals in " + folder);
  std::sort(suite.begin(), suite.end(), [](const auto& a, const auto& b) {
    return std::pair(a->id(), a->name()) < std::pair(b->id(), b->name());
  });
  for (std::size_t i = 0; i < suite.size(); ++i) {
    for (std::size_t j = i + 1; j < suite.size(); ++j) {
      if (suite[i]->id() != suite[j]->id() && suite[i]->name() != suite[j]->name()) continue;
      return runtime::InvalidArgument("goals in " + folder + ": " + suite[i]->name() + " and " +
                                      suite[j]->name() + " share an id or a name");
    }
  }
  return suite;
}

absl::StatusOr<GoalSuite> WithEvaluationPhrasings(GoalSuite suite, const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(path));
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    return runtime::InvalidArgument(path + ": " + std::string(parsed.error().description()));
  }
  for (const auto& [key, node] : parsed.table()) {
    const std::string name(key.str());
    const auto goal = std::find_if(suite.begin(), suite.end(),
                                   [&name](const auto& one) { return one->name() == name; });
    if (goal == suite.end()) return runtime::InvalidArgument(path + ": no goal " + name);
    std::vector<std::string> sentences;
    const toml::array* const array = node.as_array();
    if (array == nullptr || !(array->empty() || array->is_homogeneous<std::string>())) {
      return runtime::InvalidArgument(path + ": " + name + " is no array of sentences");
    }
    for (const toml::node& sentence : *array) sentences.push_back(*sentence.value<std::string>());
    absl::StatusOr<std::shared_ptr<const Goal>> changed =
        (*goal)->WithEvaluationPhrasings(std::move(sentences));
    if (!changed.ok()) {
      return runtime::InvalidArgument(path + ": " + name + ": " +
                                      std::string(changed.status().message()));
    }
    *goal = *std::move(changed);
  }
  return suite;
}

absl::StatusOr<std::vector<std::shared_ptr<const AppliedGoal>>> ApplyGoals(const GoalSuite& suite,
                                                                           const Capture& capture,
                                                                           Starts starts) {
  std::vector<std::shared_ptr<const AppliedGoal>> applied;
  for (const std::shared_ptr<const Goal>& goal : suite) {
    auto bound = AppliedGoal::Create(goal, capture, suite, starts);
    if (bound.ok()) {
      applied.push_back(std::move(bound).value());
    } else if (bound.status().code() != absl::StatusCode::kNotFound) {
      return bound.status();
    }
  }
  return applied;
}

}  // namespace shoal::redfish
