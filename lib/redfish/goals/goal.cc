// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/goal.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "redfish/capture/archive.h"
#include "redfish/goals/goal_definition.h"

namespace shoal::redfish {

std::string DropWords(std::string_view phrase, double share, runtime::Random& random) {
  if (share <= 0) return std::string(phrase);
  std::string kept;
  for (std::string_view rest = phrase; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word.empty()) continue;
    const bool dropped = random.Uniform() < share && word.find('{') == word.npos;
    if (dropped) continue;
    if (!kept.empty()) kept += ' ';
    kept += word;
  }
  return kept.empty() ? std::string(phrase) : kept;
}

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
const std::vector<std::string>& Goal::phrasings(Split split) const {
  return definition_->phrasings.Of(split);
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
