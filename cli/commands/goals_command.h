// SPDX-License-Identifier: Apache-2.0
// `shoal goals list|show|phrasings|parse|check`: lists the goals, shows a goal bound to a capture
// and the sentences that ask for a goal, understands a person's sentence, and checks whether a goal
// that somebody wrote fits a capture.
//
// The functions return the text to print. A capture is given by its name in <data>/captures, or by
// the path of an archive or folder.
#pragma once

#include <CLI/App.hpp>
#include <cstdint>
#include <functional>
#include <istream>
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
  // The number of sentences to show, and their share of mistyped words.
  std::int64_t count = 10;
  double typos = 0.0;
  // The sentence to understand, and whether to print JSON.
  std::string sentence = "";
  bool json = false;
};

// Returns the frozen list of goals and the captures that they apply to.
absl::StatusOr<std::string> ListGoals(const std::string& data);

// Returns one episode: text, slots, start, predicate, milestones, side-effect budget and expert
// plan. NOT_FOUND means an unknown goal or capture, or a goal that does not apply.
absl::StatusOr<std::string> ShowGoal(const GoalChoice& choice);

// Returns `choice.count` sentences of training for a goal, or for each goal when `choice.goal` is
// empty, and the number of distinct ones, counted up to kMostTexts.
inline constexpr std::size_t kMostTexts = 20000;
absl::StatusOr<std::string> ShowPhrasings(const GoalChoice& choice);

// A person's sentence as it was understood: whether it was, and a text that says which goal, with
// which values, or why the sentence is refused.
struct Understanding {
  bool understood = false;
  std::string text;
};

// Understands `choice.sentence` on `choice.capture`. A refused sentence is no error. When the
// sentence is "-", those of `lines` are understood, and the text has one line of JSON for each.
absl::StatusOr<Understanding> ParseSentences(const GoalChoice& choice, std::istream& lines);

// The exit code of a sentence that is refused.
inline constexpr int kRefusedExit = 3;

// Every goal needs at least so many distinct sentences of training.
inline constexpr std::size_t kLeastTexts = 40;

// Returns a summary of the goal's sentences and starts. An error says what is wrong with the file,
// naming file and line, or why the goal does not apply.
absl::StatusOr<std::string> CheckGoal(const GoalChoice& choice);

// Adds the subcommands to `app`. Parsing one sets `action` to a function that runs it and returns
// the exit code.
void AddGoals(CLI::App& app, std::function<int()>& action);

}  // namespace shoal::cli
