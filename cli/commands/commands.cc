// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/cluster/effective_config.h"
#include "cli/commands/capture_command.h"
#include "cli/commands/command_result.h"
#include "cli/commands/demonstrations_command.h"
#include "cli/commands/discover_command.h"
#include "cli/commands/do_command.h"
#include "cli/commands/doctor_command.h"
#include "cli/commands/goals_command.h"
#include "cli/commands/health_command.h"
#include "cli/commands/place_command.h"
#include "cli/commands/plan_memory_command.h"
#include "cli/commands/presets_command.h"
#include "cli/commands/replay_command.h"
#include "cli/commands/simulate_command.h"
#include "cli/commands/train_command.h"
#include "cli/results/comparison.h"
#include "cli/results/report.h"
#include "cli/session/run_directory.h"
#include "platform/runtime/program.h"

namespace shoal::cli {
namespace {

std::string CommandLine(int argc, char** argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += (i > 0 ? " " : "") + std::string(argv[i]);
  return line;
}

CLI::Option* AddConfigFile(CLI::App& command, TrainFlags& flags) {
  return command
      .add_option("FILE", flags.config_path, "cluster file, e.g. deploy/local/redfish.toml")
      ->check(CLI::ExistingFile);
}

void AddSharedFlags(CLI::App& command, TrainFlags& flags) {
  command.add_option("--name", flags.name, "name of the run; default: from FILE and the time");
  command.add_option("--seed", flags.seed, "every random draw is a function of it");
  command.add_option("--goals", flags.goals, "goals by number, as in 1,3");
  command
      .add_option("--capture", flags.captures,
                  "captures by name, as in openbmc-stock, or by the path of an archive or folder")
      ->delimiter(',');
  command
      .add_option("--access", flags.access,
                  "how actors reach services: simulated ones over HTTP or in their own process, or "
                  "the real host of environment.host")
      ->check(CLI::IsMember({"http", "inprocess", "host"}));
  command.add_option(
      "--device", flags.device,
      "where policy, updates and language models compute: auto, cpu, cuda or cuda:<n>. With cuda:* "
      "or a list with commas the policy acts on all of them; updates and language models then take "
      "cuda, or the first of the list. Default: what FILE says");
  command.add_option("--preset", flags.preset,
                     "settings of an algorithm, over the file: a name of `shoal presets`, or the "
                     "path of a .toml file");
  command.add_option("--set", flags.overrides, "section.key=value, over the file; repeatable")
      ->allow_extra_args(false);
}

void PrepareResumption(TrainFlags& flags) {
  if (flags.resume.empty()) {
    if (flags.config_path.empty()) throw CLI::RequiredError("FILE or --resume");
    return;
  }
  // The link `latest` may come to name another run.
  std::error_code error;
  const std::filesystem::path run = std::filesystem::canonical(flags.resume, error);
  if (!error) flags.resume = run.string();
  flags.config_path = flags.resume + "/config.toml";
}

void AddTrain(CLI::App& app, TrainFlags& flags, std::function<int()>& action,
              runtime::TimePoint started) {
  CLI::App* const train = app.add_subcommand(
      "train", "Start a cluster, learn, evaluate; the last line printed is the result");
  CLI::Option* const file = AddConfigFile(*train, flags);
  CLI::Option* const resume =
      train
          ->add_option("--resume", flags.resume,
                       "in place of FILE: the directory of a run that was stopped or killed, e.g. "
                       "runs/latest; it goes on from its last checkpoint until it has trained for "
                       "--minutes in all; give --in-process again if it had it")
          ->check(CLI::ExistingDirectory)
          ->excludes(file);
  AddSharedFlags(*train, flags);
  // What a run has begun with stays.
  for (const char* const name : {"--name", "--seed", "--goals", "--capture", "--preset"}) {
    resume->excludes(train->get_option(name));
  }
  train->add_option("--minutes", flags.minutes, "training time at most; 0: until stopped");
  train->add_option("--hold-out", flags.hold_out,
                    "capture, by name or path, that training leaves out and the evaluation adds "
                    "(zero-shot)");
  train->add_option("--world-size", flags.world_size, "learner ranks");
  train->add_option("--episodes", flags.episodes,
                    "episodes of each goal and capture in the evaluation at the end");
  resume->excludes(train->get_option("--hold-out"));
  train->add_flag("--in-process", flags.in_process,
                  "actors, inference, replay and the learner are threads of one process");
  train
      ->add_flag("--attach", flags.attach,
                 "watch and evaluate the cluster that FILE names, start none")
      ->excludes("--in-process")
      ->excludes("--resume");
  train->callback([&flags, &action, started] {
    PrepareResumption(flags);
    action = [&flags, started] { return RunTrain(flags, started); };
  });
}

void AddUp(CLI::App& app, TrainFlags& flags, std::function<int()>& action,
           runtime::TimePoint started) {
  CLI::App* const up = app.add_subcommand("up", "Start a cluster and keep it until stopped");
  AddConfigFile(*up, flags)->required();
  AddSharedFlags(*up, flags);
  up->callback([&flags, &action, started] {
    flags.purpose = Purpose::kUp;
    action = [&flags, started] { return RunTrain(flags, started); };
  });
}

// Takes a run's own configuration, removes its addresses and starts from its parameters.
void PrepareEvaluation(TrainFlags& flags, const std::string& given) {
  const std::string run = std::filesystem::absolute(given).lexically_normal().string();
  flags.purpose = Purpose::kEvaluate;
  flags.config_path = run + "/config.toml";
  const std::string name = std::filesystem::path(run).filename().string();
  if (flags.name.empty()) flags.name = DefaultRunName(name + "-evaluation");
  for (const char* list : {"cluster.inference=[]", "cluster.replay=[]"}) {
    flags.overrides.emplace_back(list);
  }
  for (const char* address : {"cluster.learner", "cluster.mockserver", "cluster.mockserver_control",
                              "cluster.replay_file", "cluster.inference_file"}) {
    flags.overrides.push_back(std::string(address) + "=\"\"");
  }
  flags.overrides.push_back("inference.parameters_folder=" + TomlText(LearnedParameters(run)));
}

void AddEvaluate(CLI::App& app, TrainFlags& flags, std::string& run, std::function<int()>& action,
                 runtime::TimePoint started) {
  CLI::App* const evaluate =
      app.add_subcommand("evaluate", "Judge what a run has learned, with fresh episodes");
  evaluate->add_option("RUN", run, "run directory, e.g. runs/latest")
      ->required()
      ->check(CLI::ExistingDirectory);
  AddSharedFlags(*evaluate, flags);
  evaluate->add_option("--episodes", flags.episodes, "episodes of each goal and capture");
  evaluate
      ->add_option("--phrasings", flags.phrasings,
                   "TOML file with sentences of your own, an array by the goal's name, in place of "
                   "those of the goals' files")
      ->check(CLI::ExistingFile);
  evaluate
      ->add_option("--ablate", flags.ablate,
                   "evaluate once more without the bodies of answers, the memory of the episode or "
                   "the words of the goal, and compare")
      ->check(CLI::IsMember({"bodies", "memory", "words"}));
  evaluate
      ->add_flag("--exchange", flags.exchange,
                 "evaluate once more with the decisive value in another member, where the goals' "
                 "files say how, and compare the requests")
      ->excludes("--ablate");
  evaluate->callback([&flags, &run, &action, started] {
    PrepareEvaluation(flags, run);
    action = [&flags, started] {
      if (flags.exchange) return RunExchange(flags, started);
      return flags.ablate.empty() ? RunTrain(flags, started) : RunAblation(flags, started);
    };
  });
}

struct ReportFlags {
  std::vector<std::string> runs;
  std::string output;
};

// Returns the page's path and a line end.
absl::StatusOr<std::string> Report(const ReportFlags& flags) {
  if (flags.runs.size() == 1 && flags.output.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const std::string path, WriteReport(flags.runs.front()));
    return path + "\n";
  }
  std::filesystem::path path = flags.output;
  if (path.empty()) {
    const std::filesystem::path first = flags.runs.front();
    path = (first / ".." / "comparison.html").lexically_normal();
  }
  SHOAL_RETURN_IF_ERROR(WriteComparison(flags.runs, path));
  return path.string() + "\n";
}

void AddReport(CLI::App& app, ReportFlags& flags, std::function<int()>& action) {
  CLI::App* const report = app.add_subcommand(
      "report",
      "Write report.html of a run (curves, tables, configuration), or a page that compares runs");
  report
      ->add_option(
          "RUN", flags.runs,
          "run directory, e.g. runs/latest; several are compared, and those that differ in "
          "their seed alone share a curve with a band")
      ->required()
      ->check(CLI::ExistingDirectory);
  report->add_option("--output", flags.output,
                     "file of the comparison; default: comparison.html beside the first run");
  report->callback([&flags, &action] { action = [&flags] { return PrintResult(Report(flags)); }; });
}

}  // namespace

int RunCommandLine(int argc, char** argv, runtime::TimePoint started) {
  CLI::App app("Shoal trains agents that operate servers through their REST APIs.");
  app.name("shoal");
  app.set_version_flag("--version", runtime::GitRevision());
  app.require_subcommand(1);
  TrainFlags flags;
  flags.command_line = CommandLine(argc, argv);
  std::string run;
  std::function<int()> action;
  AddTrain(app, flags, action, started);
  AddUp(app, flags, action, started);
  AddEvaluate(app, flags, run, action, started);
  ReportFlags report;
  AddReport(app, report, action);
  AddDiscover(app, action);
  AddDo(app, action);
  AddCapture(app, action);
  AddDemonstrations(app, action);
  AddDoctor(app, action);
  AddHealth(app, action);
  AddPlace(app, action);
  AddPlanMemory(app, action);
  AddSimulate(app, action);
  AddPresets(app, action);
  AddReplay(app, action);
  AddGoals(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : runtime::kExitConfiguration;
  }
  return action();
}

}  // namespace shoal::cli
