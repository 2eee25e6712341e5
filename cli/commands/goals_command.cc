// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/goals_command.h"

#include <absl/strings/str_format.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/commands/command_result.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/capture_path.h"
#include "redfish/goals/goal.h"
#include "text/intent/goal_sentence.h"
#include "text/intent/intent_parser.h"
#include "text/lexical/lexical_encoder.h"

namespace shoal::cli {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t kDraws = 200;
constexpr auto kReplace = Json::error_handler_t::replace;

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
  text += title + json.dump(-1, ' ', false, kReplace) + "\n";
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

absl::StatusOr<std::string> ShowPhrasings(const GoalChoice& choice) {
  SHOAL_ASSIGN_OR_RETURN(redfish::GoalSuite suite, redfish::LoadGoals(choice.data + "/goals"));
  if (!choice.goal.empty()) {
    SHOAL_ASSIGN_OR_RETURN(auto goal, FindGoal(suite, choice.goal));
    suite = {std::move(goal)};
  }
  std::string text;
  for (const auto& goal : suite) {
    const std::size_t distinct = goal->TrainTexts(kMostTexts).size();
    text += std::to_string(goal->id()) + " " + goal->name() + ": " + std::to_string(distinct) +
            (distinct < kMostTexts ? "" : " or more") + " distinct texts\n";
    const auto& patterns = goal->train_patterns();
    runtime::Random random(runtime::DeriveSeed(choice.seed, "phrasings/" + goal->name()));
    for (std::int64_t i = 0; i < choice.count; ++i) {
      const std::string drawn = patterns[random.Below(patterns.size())].Draw(random);
      text += "  " + redfish::AddTypos(drawn, choice.typos, random) + "\n";
    }
  }
  return text;
}

namespace {

std::string DescribeIntent(const intent::Intent& intent, const std::string& capture) {
  std::string text;
  if (!intent.refusal.empty()) text += "refused     " + intent.refusal + "\n";
  if (intent.goal.empty()) return text;
  text +=
      "goal        " + std::to_string(intent.goal_id) + " " + intent.goal + " on " + capture + "\n";
  text += absl::StrFormat("score       %.3f\n", intent.score);
  for (const auto& [name, value] : intent.values)
    AddLine(text, "parameter   " + name + " = ", value);
  for (const std::string& target : intent.targets) text += "target      " + target + "\n";
  if (intent.requirement) {
    for (const Json& condition : intent.requirement->json().at("all")) {
      AddLine(text, "predicate   ", condition);
    }
  }
  for (const auto& [name, score] : intent.alternatives) {
    text += absl::StrFormat("otherwise   %s %.3f\n", name, score);
  }
  return text;
}

// Each goal of several stands below the part of the sentence that asks for it.
std::string DescribeIntents(const std::vector<intent::Intent>& intents,
                            const std::string& capture) {
  if (intents.size() == 1) return DescribeIntent(intents.front(), capture);
  std::string text;
  for (const intent::Intent& intent : intents) {
    text += (text.empty() ? "" : "\n") + intent.text + "\n" + DescribeIntent(intent, capture);
  }
  return text;
}

}  // namespace

absl::StatusOr<Understanding> ParseSentences(const GoalChoice& choice, std::istream& lines) {
  SHOAL_ASSIGN_OR_RETURN(const auto capture, LoadCapture(choice));
  SHOAL_ASSIGN_OR_RETURN(const auto encoder,
                         tokens::LexicalEncoder::Create(choice.data + "/encoder/lexical.idf"));
  SHOAL_ASSIGN_OR_RETURN(const auto parser,
                         intent::IntentParser::Create(choice.data + "/goals", *capture, *encoder));
  Understanding understanding{.understood = true, .text = ""};
  const bool many = choice.sentence == "-";
  std::string sentence = choice.sentence;
  while (!many || std::getline(lines, sentence)) {
    SHOAL_ASSIGN_OR_RETURN(const std::vector<intent::Intent> intents, parser->ParseGoals(sentence));
    understanding.understood &= intents.front().refusal.empty();
    const Json json = intent::ToJson(intents);
    understanding.text += many          ? json.dump(-1, ' ', false, kReplace) + "\n"
                          : choice.json ? json.dump(2, ' ', false, kReplace) + "\n"
                                        : DescribeIntents(intents, capture->name());
    if (!many) break;
  }
  return understanding;
}

absl::StatusOr<std::string> CheckGoal(const GoalChoice& choice) {
  SHOAL_ASSIGN_OR_RETURN(auto goal, redfish::Goal::Load(choice.goal));
  const std::size_t texts = goal->TrainTexts(kMostTexts).size();
  if (texts < kLeastTexts) {
    return runtime::InvalidArgument("goal " + choice.goal + ": \"train\" stands for " +
                                    std::to_string(texts) + " distinct texts, at least " +
                                    std::to_string(kLeastTexts) + " are needed");
  }
  SHOAL_RETURN_IF_ERROR(intent::GoalSentence::Read(*goal).status());
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
  text += "  distinct texts of training: " + std::to_string(texts) +
          (texts < kMostTexts ? "\n" : " or more\n");
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
  CLI::App* const phrasings =
      add("phrasings", "Sentences that ask for a goal, as training draws them");
  phrasings->add_option("GOAL", choice->goal, "number or name; all goals without it");
  phrasings->add_option("--count", choice->count, "how many sentences")
      ->check(CLI::Range(0, 100000));
  phrasings->add_option("--seed", choice->seed, "which sentences");
  phrasings->add_option("--typos", choice->typos, "share of mistyped words")
      ->check(CLI::Range(0.0, 1.0));
  CLI::App* const parse = add("parse", "Which goals a sentence asks for, with which values");
  parse->add_option("SENTENCE", choice->sentence, "what a person says; - reads one a line")
      ->required();
  parse->add_option("--capture", choice->capture, "name, archive or folder")->required();
  parse->add_flag("--json", choice->json, "print JSON");
  phrasings->callback(
      [choice, &action] { action = [choice] { return PrintResult(ShowPhrasings(*choice)); }; });
  parse->callback([choice, &action] {
    action = [choice] {
      const absl::StatusOr<Understanding> result = ParseSentences(*choice, std::cin);
      if (!result.ok()) return PrintResult(result.status());
      const int printed = PrintResult(result->text);
      return result->understood ? printed : kRefusedExit;
    };
  });
  list->callback(
      [choice, &action] { action = [choice] { return PrintResult(ListGoals(choice->data)); }; });
  show->callback(
      [choice, &action] { action = [choice] { return PrintResult(ShowGoal(*choice)); }; });
  check->callback(
      [choice, &action] { action = [choice] { return PrintResult(CheckGoal(*choice)); }; });
}

}  // namespace shoal::cli
