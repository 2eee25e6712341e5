// SPDX-License-Identifier: Apache-2.0
// `shoal goals list|show|check`: which goals there are, one of them bound to a capture, and whether
// a goal that somebody wrote fits one.
//
// What is to be printed comes back as text. Captures are named as in <data>/captures, or by the
// path of an archive or folder.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::cli {

struct GoalChoice {
  // Folder with captures/ and goals/.
  std::string data = "data";
  // A number, a name, or for CheckGoal a file.
  std::string goal;
  std::string capture;
  // Of the episode that is shown.
  std::uint64_t seed = 1;
  bool evaluation = false;
};

// The frozen list of goals and the captures that they apply to.
absl::StatusOr<std::string> ListGoals(const std::string& data);

// One episode: text, slots, start, predicate, milestones, side-effect budget, expert plan.
// NOT_FOUND for a goal or capture that is none, or a goal that does not apply.
absl::StatusOr<std::string> ShowGoal(const GoalChoice& choice);

// What is wrong with the file, naming file and line, or why it does not apply; else a summary of
// its starts.
absl::StatusOr<std::string> CheckGoal(const GoalChoice& choice);

// Adds the subcommands to `app`; of the one that is typed, `action` becomes what runs it and
// returns the exit code.
void AddGoals(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
