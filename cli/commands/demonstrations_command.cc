// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/demonstrations_command.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "cli/cluster/child_process.h"
#include "cli/cluster/effective_config.h"
#include "cli/cluster/local_cluster.h"
#include "cli/commands/command_result.h"
#include "rl/demonstrations/demonstration_file.h"

namespace shoal::cli {
namespace {

// Keeps only the last line of a program's log, which says why it ended.
absl::Status LastLineOf(const absl::Status& status) {
  const std::string text = runtime::Message(status);
  return absl::Status(status.code(), text.substr(text.rfind('\n') + 1));
}

void AddRecord(CLI::App& demonstrations, std::function<int()>& action) {
  const auto flags = std::make_shared<RecordFlags>();
  CLI::App* const record = demonstrations.add_subcommand(
      "record", "Play the expert's plan of each goal on each capture and write what it did");
  record->add_option("--out", flags->out, "file to write")->required();
  record->add_option("--config", flags->config_path, "cluster file whose [environment] counts")
      ->check(CLI::ExistingFile);
  record->add_option("--goals", flags->goals, "goals by number, as in 1,3");
  record
      ->add_option("--captures,--capture", flags->captures,
                   "captures by name, as in openbmc-stock, or by path")
      ->delimiter(',');
  record->add_option("--episodes", flags->episodes, "episodes of each goal and capture")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  record->add_option("--seed", flags->seed, "starts and values are functions of it")
      ->capture_default_str();
  record
      ->add_option(
          "--fault-rate", flags->fault_rate,
          "largest share of requests that the service answers 503; each episode draws its own")
      ->check(CLI::Range(0.0, 0.9));
  record->callback([flags, &action] {
    action = [flags] { return PrintResult(RecordDemonstrations(*flags, ProgramFolder())); };
  });
}

void AddShow(CLI::App& demonstrations, std::function<int()>& action) {
  const auto path = std::make_shared<std::string>();
  CLI::App* const show = demonstrations.add_subcommand(
      "show", "Episodes by goal and capture, their length, what was left out and why");
  show->add_option("FILE", *path, "what `record` wrote")->required();
  show->callback(
      [path, &action] { action = [path] { return PrintResult(ShowDemonstrations(*path)); }; });
}

}  // namespace

absl::StatusOr<std::string> ShowDemonstrations(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const auto file, demonstrations::ReadDemonstrations(path));
  return demonstrations::Summarise(file);
}

absl::StatusOr<std::string> RecordDemonstrations(const RecordFlags& flags,
                                                 const std::string& programs) {
  std::vector<std::string> command = {programs + "/actor"};
  if (!flags.config_path.empty()) {
    command.insert(command.end(), {"--config", flags.config_path});
  }
  std::vector<std::string> settings = {"actor.mode=\"record\"",
                                       "actor.record_output=" + TomlText(flags.out),
                                       "actor.record_episodes=" + std::to_string(flags.episodes),
                                       "run.seed=" + std::to_string(flags.seed)};
  if (!flags.goals.empty()) settings.push_back("environment.goals=[" + flags.goals + "]");
  if (!flags.captures.empty()) {
    settings.push_back("environment.captures=" + TomlList(flags.captures));
  }
  if (flags.fault_rate) {
    settings.push_back("environment.faults.rate=" + std::to_string(*flags.fault_rate));
  }
  AppendSettings(settings, command);
  const absl::StatusOr<std::string> recorded = RunToEnd(command);
  if (!recorded.ok()) return LastLineOf(recorded.status());
  return ShowDemonstrations(flags.out);
}

void AddDemonstrations(CLI::App& app, std::function<int()>& action) {
  CLI::App* const demonstrations =
      app.add_subcommand("demonstrations", "What experts do, as a file that learners train on");
  demonstrations->require_subcommand(1);
  AddRecord(*demonstrations, action);
  AddShow(*demonstrations, action);
}

}  // namespace shoal::cli
