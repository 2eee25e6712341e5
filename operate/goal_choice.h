// SPDX-License-Identifier: Apache-2.0
// The goals that somebody wants reached, with the values that belong to them. Whatever understands
// people's words ends in a wish.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "operate/secrets.h"
#include "platform/runtime/status.h"
#include "redfish/goals/goal.h"
#include "redfish/goals/situation.h"

namespace shoal::operate {

struct GoalChoice {
  // The number or the name of a goal.
  std::string goal = {};
  // The values for AppliedGoal::EpisodeWith.
  redfish::Values values = {};
  // The names of the targets that are wanted; empty means all of the goal's.
  std::set<std::string> targets = {};
  // The words in which it was asked for, which may be empty.
  std::string sentence = {};
};

// Goals that are to hold together in the end. They are reached in this order.
struct Wish {
  // The words in which all of it was asked for, which may be empty.
  std::string sentence = {};
  // At least one.
  std::vector<GoalChoice> goals = {};
};

// Adds "Name=value" to `values`. A value that begins with '[' or '{' is JSON, any other is a text.
// INVALID_ARGUMENT naming `setting`.
absl::Status AddSetting(std::string_view setting, redfish::Values& values);
// Adds "Name=FILE", whose value is the first line of a file. Errors are those of
// runtime::ReadSecret, and INVALID_ARGUMENT.
absl::Status AddSettingFile(std::string_view setting, redfish::Values& values);

// Returns the goal of that number or name. NOT_FOUND lists the goals.
absl::StatusOr<std::shared_ptr<const redfish::Goal>> FindGoal(const redfish::GoalSuite& suite,
                                                              const std::string& goal);

// Gives each of `values` to the goal of the wish that has it; a wish of one goal takes all.
// INVALID_ARGUMENT names a value that no goal has, or several have.
absl::Status GiveValues(const redfish::GoalSuite& suite, const redfish::Values& values, Wish& wish);

// Returns the names of the wish's goals, with "+" between them, and behind each the targets that
// are singled out: "power_on+asset_tag(chassis)".
std::string NameOf(const Wish& wish);
// Returns the values of the one goal, or a list with those of each goal.
nlohmann::json ValuesOf(const Wish& wish);

// Returns the values that the goals draw as passwords, by their names; where two goals want
// different ones, that of the second has its number behind the name, as in "Password 2". Errors are
// those of FindGoal.
absl::StatusOr<Secrets> SecretsOf(const redfish::GoalSuite& suite, const Wish& wish);

}  // namespace shoal::operate
