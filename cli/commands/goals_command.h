// SPDX-License-Identifier: Apache-2.0
// `shoal goals list|show|check`: lists the goals, shows a goal bound to a capture, and checks
// whether a goal that somebody wrote fits a capture.
//
// The functions return the text to print. A capture is given by its name in <data>/captures, or by
// the path of an archive or folder.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::cli {

struct GoalChoice {
  // The folder that holds captures/ and goals/.
  std::string data = "data";
  // A number, a name, or for CheckGoal the path of a file.
  std::string goal;
  std::string capture;
  // The seed and the split of the episode that is shown.
  std::uint64_t seed = 1;
  bool evaluation = false;
};

// Returns the frozen list of goals and the captures that they apply to.
absl::StatusOr<std::string> ListGoals(const std::string& data);

// Returns one episode: text, slots, start, predicate, milestones, side-effect budget and expert
// plan. NOT_FOUND means an unknown goal or capture, or a goal that does not apply.
absl::StatusOr<std::string> ShowGoal(const GoalChoice& choice);

// Returns a summary of the goal's starts. An error says what is wrong with the file, naming file
// and line, or why the goal does not apply.
absl::StatusOr<std::string> CheckGoal(const GoalChoice& choice);

// Adds the subcommands to `app`. Parsing one sets `action` to a function that runs it and returns
// the exit code.
void AddGoals(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
