// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/goal.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "redfish/capture/archive.h"
#include "redfish/goals/goal_definition.h"

namespace shoal::redfish {

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

absl::StatusOr<std::vector<std::shared_ptr<const AppliedGoal>>> ApplyGoals(const GoalSuite& suite,
                                                                           const Capture& capture) {
  std::vector<std::shared_ptr<const AppliedGoal>> applied;
  for (const std::shared_ptr<const Goal>& goal : suite) {
    auto bound = AppliedGoal::Create(goal, capture, suite);
    if (bound.ok()) {
      applied.push_back(std::move(bound).value());
    } else if (bound.status().code() != absl::StatusCode::kNotFound) {
      return bound.status();
    }
  }
  return applied;
}

}  // namespace shoal::redfish
