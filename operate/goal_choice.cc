// SPDX-License-Identifier: Apache-2.0
#include "operate/goal_choice.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "redfish/goals/goal_definition.h"

namespace shoal::operate {
namespace {

// What stands before a parameter's name for its second draw.
constexpr std::string_view kOther = "other:";

absl::StatusOr<std::pair<std::string, std::string>> SplitSetting(std::string_view setting) {
  const std::size_t equals = setting.find('=');
  if (equals == setting.npos || equals == 0) {
    return runtime::InvalidArgument("a value of the goal is not in the form Name=value");
  }
  return std::pair(std::string(setting.substr(0, equals)), std::string(setting.substr(equals + 1)));
}

// Whether AppliedGoal::EpisodeWith knows the name for this goal.
bool HasValue(const redfish::Goal::Definition& goal, const std::string& name) {
  constexpr std::string_view kFirst = ":first";
  const std::string parameter = name.starts_with(kOther) ? name.substr(kOther.size()) : name;
  const std::string order =
      name.ends_with(kFirst) ? name.substr(0, name.size() - kFirst.size()) : name;
  return goal.parameters.contains(parameter) || goal.slots.contains(name) ||
         std::any_of(goal.orders.begin(), goal.orders.end(),
                     [&order](const redfish::Reading& one) { return one.name == order; }) ||
         std::any_of(goal.choices.begin(), goal.choices.end(),
                     [&name](const redfish::ValueGroup& one) { return one.values.contains(name); });
}

// Writing replaces what is no UTF-8, so a text that comes back unchanged is sound.
bool IsUtf8(const std::string& text) {
  constexpr auto kReplace = nlohmann::json::error_handler_t::replace;
  return nlohmann::json::parse(nlohmann::json(text).dump(-1, ' ', false, kReplace)) == text;
}

}  // namespace

absl::Status AddSetting(std::string_view setting, redfish::Values& values) {
  SHOAL_ASSIGN_OR_RETURN(const auto parts, SplitSetting(setting));
  const auto& [name, text] = parts;
  const bool is_json = text.starts_with('[') || text.starts_with('{');
  nlohmann::json value =
      is_json ? nlohmann::json::parse(text, nullptr, false) : nlohmann::json(text);
  if (value.is_discarded()) {
    return runtime::InvalidArgument("the value of " + name + " begins like JSON and is none");
  }
  if (!IsUtf8(text)) {
    return runtime::InvalidArgument("the value of " + name + " is not UTF-8");
  }
  values[name] = std::move(value);
  return absl::OkStatus();
}

absl::Status AddSettingFile(std::string_view setting, redfish::Values& values) {
  SHOAL_ASSIGN_OR_RETURN(const auto parts, SplitSetting(setting));
  SHOAL_ASSIGN_OR_RETURN(std::string secret, runtime::ReadSecret(parts.second));
  if (!IsUtf8(secret)) {
    return runtime::InvalidArgument("the value of " + parts.first + " is not UTF-8");
  }
  values[parts.first] = std::move(secret);
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const redfish::Goal>> FindGoal(const redfish::GoalSuite& suite,
                                                              const std::string& goal) {
  std::string all;
  for (const std::shared_ptr<const redfish::Goal>& one : suite) {
    const std::string number = std::to_string(one->id());
    if (goal == number || goal == one->name()) return one;
    all += (all.empty() ? "" : ", ") + number + " " + one->name();
  }
  return runtime::NotFound("there is no goal \"" + goal + "\"; there are " + all);
}

absl::Status GiveValues(const redfish::GoalSuite& suite, const redfish::Values& values,
                        Wish& wish) {
  for (const auto& [name, value] : values) {
    std::vector<GoalChoice*> takers;
    for (GoalChoice& choice : wish.goals) {
      SHOAL_ASSIGN_OR_RETURN(const auto goal, FindGoal(suite, choice.goal));
      const bool is_its = wish.goals.size() == 1 || choice.values.contains(name) ||
                          HasValue(goal->definition(), name);
      if (is_its) takers.push_back(&choice);
    }
    if (takers.size() != 1) {
      return runtime::InvalidArgument((takers.empty() ? "none" : "more than one") +
                                      std::string(" of the goals ") + NameOf(wish) +
                                      " has a value " + name);
    }
    takers.front()->values[name] = value;
  }
  return absl::OkStatus();
}

std::string NameOf(const Wish& wish) {
  std::string name;
  for (const GoalChoice& choice : wish.goals) {
    name += (name.empty() ? "" : "+") + choice.goal;
    if (!choice.targets.empty()) name += "(" + absl::StrJoin(choice.targets, ",") + ")";
  }
  return name;
}

nlohmann::json ValuesOf(const Wish& wish) {
  if (wish.goals.size() == 1) return wish.goals.front().values;
  nlohmann::json all = nlohmann::json::array();
  for (const GoalChoice& choice : wish.goals) all.push_back(choice.values);
  return all;
}

absl::StatusOr<Secrets> SecretsOf(const redfish::GoalSuite& suite, const Wish& wish) {
  std::map<std::string, std::string> secrets;
  for (std::size_t i = 0; i < wish.goals.size(); ++i) {
    const redfish::Values& values = wish.goals[i].values;
    SHOAL_ASSIGN_OR_RETURN(const auto goal, FindGoal(suite, wish.goals[i].goal));
    for (const auto& [parameter, generator] : goal->definition().parameters) {
      if (generator != "password") continue;
      for (const std::string& name : {parameter, std::string(kOther) + parameter}) {
        const auto found = values.find(name);
        if (found == values.end() || !found->second.is_string()) continue;
        const auto secret = found->second.get<std::string>();
        const bool is_new = secrets.try_emplace(name, secret).first->second != secret;
        if (is_new) secrets[name + " " + std::to_string(i + 1)] = secret;
      }
    }
  }
  return Secrets(std::move(secrets));
}

}  // namespace shoal::operate
