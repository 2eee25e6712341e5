// SPDX-License-Identifier: Apache-2.0
// The goal that somebody wants reached, with the values that belong to it. Whatever understands
// people's words ends in one of these.
#pragma once

#include <memory>
#include <string>
#include <string_view>

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
  // The words in which it was asked for, which may be empty.
  std::string sentence = {};
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

// Returns the values of `choice` that the goal draws as passwords.
Secrets SecretsOf(const redfish::Goal& goal, const GoalChoice& choice);

}  // namespace shoal::operate
