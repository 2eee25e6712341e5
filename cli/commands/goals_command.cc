// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/goals_command.h"

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/commands/command_result.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/capture_path.h"
#include "redfish/goals/goal.h"

namespace shoal::cli {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kDraws = 200;

absl::StatusOr<std::shared_ptr<const redfish::Capture>> LoadCapture(const GoalChoice& choice) {
  SHOAL_ASSIGN_OR_RETURN(const std::string path, redfish::FindCapture(choice.capture, choice.data));
  return redfish::Capture::Load(path);
}

absl::StatusOr<std::shared_ptr<const redfish::Goal>> FindGoal(const redfish::GoalSuite& suite,
                                                              const std::string& name) {
  for (const auto& goal : suite) {
    if (goal->name() == name || std::to_string(goal->id()) == name) return goal;
  }
  return runtime::NotFound("no goal \"" + name + "\"");
}

void AddLine(std::string& text, const std::string& title, const Json& json) {
  text += title + json.dump() + "\n";
}

std::string Describe(const redfish::AppliedGoal& goal, const redfish::Episode& episode) {
  std::string text = std::to_string(goal.goal().id()) + " " + goal.goal().name() + " on " +
                     goal.capture_name() + "\n\n" + episode.text + "\n\n";
  if (!episode.situation.empty()) text += "situation   " + episode.situation + "\n";
  text += "mutations   " + std::to_string(episode.optimum) + " at least\n";
  AddLine(text, "slots       ", episode.slot_values);
  for (const Json& operation : redfish::ToJson(episode.start)) {
    AddLine(text, "start       ", operation);
  }
  const Json watch = episode.watch->ToJson();
  for (const Json& condition : watch.at("predicate").at("all")) {
    AddLine(text, "predicate   ", condition);
  }
  for (const Json& milestone : watch.at("milestones")) {
    AddLine(text, "milestone   ", milestone);
  }
  for (const redfish::PropertyPath& path : episode.watch->allowed()) {
    text += "may change  " + path.uri + " " + path.pointer + "\n";
  }
  for (const Json& step : goal.PlanOf(episode)) AddLine(text, "plan        ", step);
  return text;
}

redfish::Split SplitOf(const GoalChoice& choice) {
  return choice.evaluation ? redfish::Split::kEvaluate : redfish::Split::kTrain;
}

}  // namespace

absl::StatusOr<std::string> ListGoals(const std::string& data) {
  return redfish::ReadWholeFile(data + "/goals/applicable.txt");
}

absl::StatusOr<std::string> ShowGoal(const GoalChoice& choice) {
  SHOAL_ASSIGN_OR_RETURN(const redfish::GoalSuite suite,
                         redfish::LoadGoals(choice.data + "/goals"));
  SHOAL_ASSIGN_OR_RETURN(auto goal, FindGoal(suite, choice.goal));
  SHOAL_ASSIGN_OR_RETURN(const auto capture, LoadCapture(choice));
  SHOAL_ASSIGN_OR_RETURN(const auto applied,
                         redfish::AppliedGoal::Create(std::move(goal), *capture, suite));
  SHOAL_ASSIGN_OR_RETURN(const redfish::Episode episode,
                         applied->DrawEpisode(choice.seed, 0, SplitOf(choice)));
  return Describe(*applied, episode);
}

absl::StatusOr<std::string> CheckGoal(const GoalChoice& choice) {
  SHOAL_ASSIGN_OR_RETURN(auto goal, redfish::Goal::Load(choice.goal));
  SHOAL_ASSIGN_OR_RETURN(const auto capture, LoadCapture(choice));
  auto applied = redfish::AppliedGoal::Create(goal, *capture, {});
  if (!applied.ok()) return runtime::Annotate(applied.status(), choice.goal);
  std::map<std::string, int> starts;
  int satisfied = 0;
  for (std::uint64_t number = 0; number < kDraws; ++number) {
    auto episode = (*applied)->DrawEpisode(choice.seed, number, SplitOf(choice));
    if (!episode.ok()) return runtime::Annotate(episode.status(), choice.goal);
    satisfied += episode->satisfied ? 1 : 0;
    const std::string name = episode->situation.empty() ? "start" : episode->situation;
    ++starts[name + ", " + std::to_string(episode->optimum) + " mutations"];
  }
  std::string text = choice.goal + ": goal " + std::to_string(goal->id()) + " " + goal->name() +
                     " applies to " + capture->name() + "\n";
  for (const auto& [start, count] : starts) {
    text += "  " + start + ": " + std::to_string(count) + " of " + std::to_string(kDraws) + "\n";
  }
  return text + "  satisfied at the start: " + std::to_string(satisfied) + " of " +
         std::to_string(kDraws) + "\n";
}

void AddGoals(CLI::App& app, std::function<int()>& action) {
  const auto choice = std::make_shared<GoalChoice>();
  CLI::App* const goals = app.add_subcommand("goals", "The goals that agents are asked for");
  goals->require_subcommand(1);
  const auto add = [&](const char* name, const char* about) {
    CLI::App* const command = goals->add_subcommand(name, about);
    command->add_option("--data", choice->data, "folder with captures/ and goals/");
    return command;
  };
  CLI::App* const list = add("list", "Which goal applies to which capture");
  CLI::App* const show = add("show", "One episode of a goal: text, start, predicate, expert plan");
  show->add_option("GOAL", choice->goal, "number or name")->required();
  CLI::App* const check = add("check", "Whether a goal's file is right and applies to a capture");
  check->add_option("FILE", choice->goal, "a goal, as data/goals/README.md says")->required();
  for (CLI::App* const command : {show, check}) {
    command->add_option("CAPTURE", choice->capture, "name, archive or folder")->required();
    command->add_option("--seed", choice->seed, "which episode");
    command->add_flag("--evaluation", choice->evaluation, "an episode of the evaluation");
  }
  list->callback(
      [choice, &action] { action = [choice] { return PrintResult(ListGoals(choice->data)); }; });
  show->callback(
      [choice, &action] { action = [choice] { return PrintResult(ShowGoal(*choice)); }; });
  check->callback(
      [choice, &action] { action = [choice] { return PrintResult(CheckGoal(*choice)); }; });
}

}  // namespace shoal::cli
