// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/train_command.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "cli/cluster/child_process.h"
#include "cli/cluster/effective_config.h"
#include "cli/cluster/local_cluster.h"
#include "cli/cluster/lockstep.h"
#include "cli/commands/command_result.h"
#include "cli/diagnosis/cluster_state.h"
#include "cli/results/evaluation.h"
#include "cli/results/exchange.h"
#include "cli/session/preset.h"
#include "cli/session/run_directory.h"
#include "cli/session/training_session.h"
#include "platform/content/parse_json.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/config.h"
#include "platform/runtime/program.h"
#include "platform/runtime/stop_signals.h"
#include "redfish/capture/archive.h"
#include "redfish/capture/capture_path.h"
#include "redfish/capture/capture_roles.h"
#include "redfish/capture/uri.h"
#include "redfish/discovery/service_url.h"
#include "rl/demonstrations/demonstration_file.h"
#include "rl/model/device_names.h"
#include "text/embedding/adapter.h"
#include "text/embedding/encoder_source.h"

namespace shoal::cli {
namespace {

// The sections that this program reads.
struct OwnConfig {
  runtime::RunOptions run;
  runtime::ClusterOptions cluster;
  TrainOptions train;
  std::string printed;
};

// Returns which of the devices of --device updates and language models compute on, each of which
// knows one alone.
std::string OneOf(const std::string& devices) {
  return devices == model::kAllGpus ? "cuda" : model::DeviceNames(devices).front();
}

absl::StatusOr<std::vector<std::string>> OverridesOf(const TrainFlags& flags) {
  std::vector<std::string> overrides;
  if (!flags.preset.empty()) {
    SHOAL_ASSIGN_OR_RETURN(Preset preset, LoadPreset(flags.preset, "data"));
    overrides = std::move(preset.settings);
  }
  const auto set = [&overrides](const std::string& key, const std::string& value) {
    overrides.push_back(key + "=" + value);
  };
  if (flags.seed) set("run.seed", std::to_string(*flags.seed));
  if (flags.minutes) set("train.minutes", std::to_string(*flags.minutes));
  if (!flags.goals.empty()) set("environment.goals", "[" + flags.goals + "]");
  if (!flags.captures.empty()) set("environment.captures", TomlList(flags.captures));
  if (!flags.access.empty()) set("environment.access", TomlText(flags.access));
  if (!flags.device.empty()) {
    set("inference.device", TomlText(flags.device));
    set("inference.encoder_device", TomlText(OneOf(flags.device)));
    set("learner.device", TomlText(OneOf(flags.device)));
  }
  if (!flags.phrasings.empty()) set("environment.phrasings", TomlText(flags.phrasings));
  if (!flags.hold_out.empty()) set("environment.hold_out", TomlText(flags.hold_out));
  if (flags.world_size) set("cluster.learner_ranks", std::to_string(*flags.world_size));
  if (flags.episodes) set("train.final_episodes", std::to_string(*flags.episodes));
  overrides.insert(overrides.end(), flags.overrides.begin(), flags.overrides.end());
  return overrides;
}

absl::StatusOr<OwnConfig> LoadOwn(const std::string& path,
                                  const std::vector<std::string>& overrides) {
  OwnConfig own;
  runtime::Config config;
  config.Add("run", own.run);
  config.Add("cluster", own.cluster);
  config.Add("train", own.train);
  SHOAL_RETURN_IF_ERROR(config.Load(path, overrides));
  own.printed = config.Print();
  return own;
}

absl::StatusOr<EffectiveConfig> GatherAll(const TrainFlags& flags, const OwnConfig& own,
                                          const std::vector<std::string>& overrides) {
  const std::string folder = ProgramFolder();
  std::vector<std::string> names = {"/actor"};
  if (flags.in_process) {
    names = {"/local", "/mockserver"};
  } else if (!flags.attach) {
    names = {"/actor", "/mockserver", "/replay", "/inference", "/learner"};
  }
  std::vector<std::string> programs;
  for (const std::string& name : names) programs.push_back(folder + name);
  std::vector<std::string> arguments = {"--config", flags.config_path};
  AppendSettings(overrides, arguments);
  return EffectiveConfig::Gather(own.printed, programs, arguments);
}

std::string StartTime() {
  const std::time_t now = std::time(nullptr);
  std::tm utc = {};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &utc);
  return text;
}

// Another run of the same second may have the default name already, so this tries further ones.
absl::StatusOr<RunDirectory> MakeDirectory(const TrainFlags& flags, const OwnConfig& own) {
  if (!flags.name.empty()) return RunDirectory::Create(own.run.directory, flags.name);
  const std::string name = DefaultRunName(flags.config_path);
  absl::StatusOr<RunDirectory> directory = RunDirectory::Create(own.run.directory, name);
  for (int i = 2; absl::IsAlreadyExists(directory.status()) && i < 100; ++i) {
    directory = RunDirectory::Create(own.run.directory, name + "-" + std::to_string(i));
  }
  return directory;
}

absl::Status Describe(const TrainFlags& flags, const RunDirectory& directory,
                      const EffectiveConfig& config) {
  nlohmann::json run = {{"command", flags.command_line},
                        {"revision", runtime::GitRevision()},
                        {"started", StartTime()}};
  if (flags.resume.empty()) {
    run["name"] = std::filesystem::path(directory.path()).filename().string();
  } else {
    const absl::StatusOr<std::string> text = runtime::ReadFile(directory.path() + "/run.json");
    nlohmann::json begun = content::ParseJson(text.value_or("{}"));
    if (!begun.is_object()) begun = nlohmann::json::object();
    if (!begun["resumed"].is_array()) begun["resumed"] = nlohmann::json::array();
    begun["resumed"].push_back(std::exchange(run, {}));
    run = std::move(begun);
  }
  SHOAL_RETURN_IF_ERROR(directory.Write("run.json", run.dump(1) + "\n"));
  return directory.Write("config.toml", config.text());
}

bool NeedsMockserver(const EffectiveConfig& config) {
  return config.Text("environment.kind") == "redfish" &&
         config.Text("environment.access") == "http";
}

std::string DataFolder(const EffectiveConfig& config) {
  return config.Text("environment.data").value_or("data");
}

// The captures of a run in the form that its processes are told.
struct Captures {
  // The new value of environment.captures: names stay names, paths become absolute.
  std::vector<std::string> named = {};
  // The path of each.
  std::vector<std::string> paths = {};
  // The name of the capture that is held out, or empty for none.
  std::string held_out = "";

  bool Contains(const std::string& capture) const {
    return std::any_of(named.begin(), named.end(), [&](const std::string& other) {
      return redfish::ArchiveName(other) == redfish::ArchiveName(capture);
    });
  }
  absl::Status Add(const std::string& capture, const std::string& data) {
    SHOAL_ASSIGN_OR_RETURN(const std::string path, redfish::FindCapture(capture, data));
    if (Contains(capture)) {
      return runtime::InvalidArgument("two captures are called " + redfish::ArchiveName(capture));
    }
    const bool own = path == capture;
    named.push_back(own ? std::filesystem::absolute(path).lexically_normal().string() : capture);
    paths.push_back(own ? named.back() : path);
    return absl::OkStatus();
  }
};

// Returns NOT_FOUND or INVALID_ARGUMENT, in one line, for a capture that is missing or given twice,
// and for a held-out capture that training cannot leave out of the others.
absl::StatusOr<Captures> FindCaptures(const TrainFlags& flags, const EffectiveConfig& config) {
  Captures captures;
  if (config.Text("environment.kind") != "redfish") return captures;
  const std::string data = DataFolder(config);
  for (const std::string& capture : config.Texts("environment.captures")) {
    SHOAL_RETURN_IF_ERROR(captures.Add(capture, data));
  }
  const bool learns = flags.purpose != Purpose::kEvaluate;
  const std::string held_out = config.Text("environment.hold_out").value_or("");
  if (held_out.empty()) return captures;
  // An evaluation may leave out what the run's training held out.
  if (!learns && flags.hold_out.empty() && !captures.Contains(held_out)) return captures;
  captures.held_out = redfish::ArchiveName(held_out);
  if (!captures.Contains(held_out)) {
    absl::Status added =
        runtime::InvalidArgument("it is none of environment.captures: " + TomlList(captures.named));
    if (!flags.hold_out.empty()) added = captures.Add(held_out, data);
    if (!added.ok()) {
      return runtime::InvalidArgument("hold-out \"" + held_out + "\": " + runtime::Message(added));
    }
  }
  if (!learns || !redfish::TrainingCaptures(captures.named, held_out).empty()) return captures;
  return runtime::InvalidArgument("hold-out \"" + held_out +
                                  "\" is the only capture: nothing is left to train on");
}

// Fits an IDF table without the held-out capture and returns the settings that name it. The shipped
// table has seen all shipped captures, so a capture that counts as unseen needs another.
absl::StatusOr<std::vector<std::string>> FitWithoutHeldOut(const EffectiveConfig& config,
                                                           const Captures& captures,
                                                           const RunDirectory& directory) {
  const std::string table = directory.path() + "/encoder.idf";
  std::vector<std::string> command = {ProgramFolder() + "/encoder", "lexical", "fit", "--schema",
                                      DataFolder(config) + "/schema/redfish.schema.zst"};
  const std::vector<std::string> fitted = redfish::JudgedCaptures(
      redfish::TrainingCaptures(captures.paths, captures.held_out), captures.held_out);
  for (const std::string& path : fitted) {
    command.insert(command.end(), {"--captures", path});
  }
  command.insert(command.end(), {"--output", table});
  SHOAL_ASSIGN_OR_RETURN(const std::string ignored, RunToEnd(command));
  return std::vector<std::string>{"inference.encoder_table=" + TomlText(table),
                                  "learner.encoder_table=" + TomlText(table)};
}

// Records demonstrations on the captures that training plays and returns the settings that name
// them. There are none where no expert reaches a goal.
absl::StatusOr<std::vector<std::string>> Demonstrate(const TrainFlags& flags, const OwnConfig& own,
                                                     const std::vector<std::string>& overrides,
                                                     const RunDirectory& directory) {
  const std::string file = directory.path() + "/demonstrations.demos";
  std::vector<std::string> command = {ProgramFolder() + "/actor", "--config", flags.config_path};
  std::vector<std::string> settings = overrides;
  settings.insert(
      settings.end(),
      {"actor.mode=\"record\"", "actor.record_output=" + TomlText(file),
       "actor.record_episodes=" + std::to_string(own.train.demonstration_episodes),
       "actor.record_goal_episodes=" + std::to_string(own.train.demonstration_goal_episodes)});
  AppendSettings(settings, command);
  SHOAL_ASSIGN_OR_RETURN(const std::string ignored, RunToEnd(command));
  SHOAL_ASSIGN_OR_RETURN(const auto recorded, demonstrations::ReadDemonstrations(file));
  if (recorded.all.demonstrations_size() == 0) {
    std::fprintf(stderr, "no expert reaches a goal here: training begins without demonstrations\n");
    return std::vector<std::string>();
  }
  return std::vector<std::string>{"learner.demonstrations=" + TomlText(file)};
}

// Returns whether `encoder` is an adapter that was tuned without `held_out`. What such an adapter
// stands on is no model of ours and has seen no capture.
bool IsTunedWithout(const EffectiveConfig& config, const std::string& encoder,
                    const std::string& held_out) {
  const embedding::EncoderSource source{
      .encoder = encoder, .encoder_models = config.Text("inference.encoder_models").value_or("")};
  if (source.adapter_folder().empty()) return false;
  const auto adapter = embedding::ReadAdapter(source.adapter_folder());
  return adapter.ok() && std::ranges::none_of(adapter->captures, [&](const std::string& capture) {
           return redfish::IsSameFamily(capture, held_out);
         });
}

void WarnOfSeenTexts(const EffectiveConfig& config, const std::string& held_out) {
  for (const char* knob : {"inference.encoder", "inference.body_encoder"}) {
    const std::string encoder = config.Text(knob).value_or("");
    if (encoder.empty() || encoder == "lexical" || IsTunedWithout(config, encoder, held_out)) {
      continue;
    }
    std::fprintf(stderr,
                 "warning: %s is held out, but %s %s may have learned from its texts, as the "
                 "shipped weights have\n",
                 held_out.c_str(), knob, encoder.c_str());
  }
}

// The learner embeds demonstrations as inference embeds what actors send. Returns the setting that
// gives it inference's encoder of bodies, unless it has one.
std::vector<std::string> BodyEncoderOfLearner(const EffectiveConfig& config) {
  const std::string encoder = config.Text("inference.body_encoder").value_or("");
  const std::string own = config.Text("learner.body_encoder").value_or("");
  if (encoder.empty() || !own.empty()) return {};
  return {"learner.body_encoder=" + TomlText(encoder)};
}

// A file that names processes of the cluster names those that are started here.
absl::Status WriteAddresses(const std::string& file, const std::vector<std::string>& addresses) {
  if (file.empty()) return absl::OkStatus();
  return runtime::WriteFileAtomically(file, absl::StrJoin(addresses, "\n") + "\n");
}

// The ports that a run had taken on its own machine may be others' by now.
void ForgetPorts(runtime::ClusterOptions& cluster) {
  const auto forget = [](std::string& address) {
    if (address.starts_with("127.0.0.1:")) address.clear();
  };
  for (std::string& address : cluster.replay) forget(address);
  for (std::string& address : cluster.inference) forget(address);
  for (std::string* address :
       {&cluster.learner, &cluster.mockserver, &cluster.mockserver_control}) {
    forget(*address);
  }
}

// Checks how the host is reached before a run is made, whose files would keep a password in a URL.
// An evaluator is a process with a budget of its own, which would change the host beside the actor.
absl::Status CheckHost(const TrainFlags& flags, const TrainOptions& train,
                       const EffectiveConfig& config) {
  if (config.Text("environment.access") != "host") return absl::OkStatus();
  const std::string url = config.Text("environment.host.url").value_or("");
  if (!url.empty()) SHOAL_RETURN_IF_ERROR(discovery::ParseServiceUrl(url).status());
  const bool judges = flags.purpose == Purpose::kTrain &&
                      (train.evaluate_every_seconds > 0 || train.evaluate_every_steps > 0);
  const bool changes = !config.Texts("environment.host.methods").empty();
  if (!judges || !changes) return absl::OkStatus();
  return runtime::InvalidArgument(
      "environment.host.methods lets one environment change the host, and evaluations beside "
      "training are another one: set train.evaluate_every_seconds and train.evaluate_every_steps "
      "to 0");
}

struct Prepared {
  SessionOptions session;
  RunDirectory directory;
};

SessionOptions DescribeSession(const TrainFlags& flags, const OwnConfig& own,
                               const EffectiveConfig& config, const Captures& captures,
                               const RunDirectory& directory) {
  SessionOptions session;
  session.train = own.train;
  session.has_goals = config.Text("environment.kind") == "redfish";
  if (!session.has_goals) std::erase(session.train.baselines, "similarity");
  session.held_out = captures.held_out;
  session.captures = redfish::JudgedCaptures(
      redfish::TrainingCaptures(captures.named, captures.held_out), captures.held_out);
  session.evaluator = {.program = ProgramFolder() + "/actor",
                       .config_path = directory.path() + "/config.toml",
                       .folder = directory.path() + "/evaluations"};
  session.only_judge = flags.purpose == Purpose::kEvaluate;
  session.never_judge = flags.purpose == Purpose::kUp;
  if (session.never_judge) {
    session.train.evaluate_every_seconds = 0;
    session.train.evaluate_every_steps = 0;
    session.train.minutes = 0;
    session.train.max_steps = 0;
  }
  return session;
}

absl::StatusOr<Prepared> Prepare(const TrainFlags& flags) {
  const bool resumes = !flags.resume.empty();
  absl::StatusOr<RunDirectory> resumed = runtime::NotFound("a run begins");
  if (resumes) resumed = RunDirectory::Open(flags.resume);
  if (resumes && !resumed.ok()) return resumed.status();
  SHOAL_ASSIGN_OR_RETURN(std::vector<std::string> overrides, OverridesOf(flags));
  SHOAL_ASSIGN_OR_RETURN(OwnConfig own, LoadOwn(flags.config_path, overrides));
  SHOAL_ASSIGN_OR_RETURN(const EffectiveConfig asked, GatherAll(flags, own, overrides));
  const std::size_t asked_count = overrides.size();
  SHOAL_RETURN_IF_ERROR(CheckHost(flags, own.train, asked));
  SHOAL_ASSIGN_OR_RETURN(const Captures captures, FindCaptures(flags, asked));
  const bool mockserver = NeedsMockserver(asked);
  const bool learns = flags.purpose != Purpose::kEvaluate;
  if (resumes) ForgetPorts(own.cluster);
  if (!flags.attach) {
    SHOAL_RETURN_IF_ERROR(
        FillAddresses(own.cluster, {.mockserver = mockserver, .learner = learns}));
    const std::vector<std::string> addresses = AddressOverrides(own.cluster);
    overrides.insert(overrides.end(), addresses.begin(), addresses.end());
  }
  if (!captures.named.empty()) {
    overrides.push_back("environment.captures=" + TomlList(captures.named));
    overrides.push_back("environment.hold_out=" + TomlText(captures.held_out));
  }
  if (own.run.deterministic && learns && !flags.attach) {
    SHOAL_ASSIGN_OR_RETURN(const std::vector<std::string> lockstep,
                           LockstepSettings(asked, own.cluster.actors));
    overrides.insert(overrides.end(), lockstep.begin(), lockstep.end());
  }
  for (std::string& setting : BodyEncoderOfLearner(asked)) overrides.push_back(std::move(setting));
  // The mock server must serve what the actors will ask for.
  if (mockserver && !flags.attach) {
    overrides.push_back("mockserver.captures=" + TomlList(captures.paths));
  }
  if (!flags.attach) {
    SHOAL_RETURN_IF_ERROR(WriteAddresses(own.cluster.replay_file, own.cluster.replay));
    SHOAL_RETURN_IF_ERROR(WriteAddresses(own.cluster.inference_file, own.cluster.inference));
  }
  SHOAL_ASSIGN_OR_RETURN(RunDirectory directory,
                         resumes ? std::move(resumed) : MakeDirectory(flags, own));
  if (learns) directory.BecomeLatest();
  const std::string name = std::filesystem::path(directory.path()).filename().string();
  overrides.push_back("run.name=" + TomlText(name));
  if (resumes) {
    SHOAL_RETURN_IF_ERROR(directory.ForgetDivergence());
    const std::string parent = std::filesystem::path(directory.path()).parent_path().string();
    overrides.push_back("run.directory=" + TomlText(parent));
  }
  // A run that goes on has its tables and demonstrations.
  if (learns && !flags.attach && !resumes && !captures.held_out.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const std::vector<std::string> tables,
                           FitWithoutHeldOut(asked, captures, directory));
    WarnOfSeenTexts(asked, captures.held_out);
    overrides.insert(overrides.end(), tables.begin(), tables.end());
  }
  const bool has_file = !asked.Text("learner.demonstrations").value_or("").empty();
  const bool demonstrates = own.train.demonstration_episodes > 0 && !has_file;
  if (learns && !flags.attach && !resumes && demonstrates) {
    SHOAL_ASSIGN_OR_RETURN(const std::vector<std::string> demonstrations,
                           Demonstrate(flags, own, overrides, directory));
    overrides.insert(overrides.end(), demonstrations.begin(), demonstrations.end());
  }
  SHOAL_ASSIGN_OR_RETURN(own, LoadOwn(flags.config_path, overrides));
  // It takes a fifth of a second of a processor to ask a program that loads libtorch.
  const auto added = std::span(overrides).subspan(asked_count);
  SHOAL_ASSIGN_OR_RETURN(const EffectiveConfig config, AreAllOf(added, {"run", "cluster", "train"})
                                                           ? asked.WithOwn(own.printed)
                                                           : GatherAll(flags, own, overrides));
  SHOAL_RETURN_IF_ERROR(Describe(flags, directory, config));

  SessionOptions session = DescribeSession(flags, own, config, captures, directory);
  if (flags.purpose == Purpose::kTrain && !flags.attach) {
    session.learner = own.cluster.learner;
    session.learner_log = directory.path() + "/learner.jsonl";
    session.retained_versions = config.Integer("inference.retained_versions").value_or(1);
    if (mockserver) {
      session.suggestion = {.run = directory.path(),
                            .programs = ProgramFolder(),
                            .mockserver = own.cluster.mockserver,
                            .capture = redfish::ArchiveName(captures.paths.front())};
    }
  }
  if (!flags.attach) {
    SHOAL_ASSIGN_OR_RETURN(
        session.processes,
        PlanCluster({.programs = ProgramFolder(),
                     .config_path = directory.path() + "/config.toml",
                     .logs = directory.path() + "/logs",
                     .cluster = own.cluster,
                     .mockserver = mockserver,
                     .learner = learns,
                     .actors = learns,
                     .learner_finishes = config.Integer("learner.updates").value_or(0) > 0,
                     .in_process = flags.in_process}));
    std::vector<MetricsAddress> processes;
    for (const PlannedProcess& process : session.processes) {
      processes.insert(processes.end(), process.metrics.begin(), process.metrics.end());
    }
    SHOAL_RETURN_IF_ERROR(directory.Write(kProcessesFile, ToJson(processes)));
  }
  return Prepared{std::move(session), std::move(directory)};
}

int RunPrepared(absl::StatusOr<Prepared> prepared, runtime::TimePoint started) {
  if (!prepared.ok()) return FailCommand(prepared.status());
  prepared->session.started = started;
  std::fprintf(stderr, "run %s\n", prepared->directory.path().c_str());
  auto session = TrainingSession::Create(std::move(prepared->session),
                                         std::move(prepared->directory), runtime::SystemClock());
  if (!session.ok()) return FailCommand(session.status());
  return (*session)->Run();
}

// Returns the success of the learned policy, over all pairs, that a finished evaluation wrote down.
absl::StatusOr<double> SuccessOf(const std::string& directory) {
  SHOAL_ASSIGN_OR_RETURN(const std::string text, runtime::ReadFile(directory + "/result.json"));
  const nlohmann::json result = content::ParseJson(text);
  const nlohmann::json* const success = redfish::Resolve(result, "/totals/learned/success");
  if (success != nullptr && success->is_number()) return success->get<double>();
  return runtime::DataLoss(directory + "/result.json has no success of the learned policy");
}

}  // namespace

int RunTrain(const TrainFlags& flags, runtime::TimePoint started) {
  const runtime::StopSignals signals;
  return RunPrepared(Prepare(flags), started);
}

namespace {

// Evaluates with one more setting, under the run's name with `suffix`. Puts the run's directory
// into `directory` and returns an exit code.
int EvaluateWith(const TrainFlags& flags, const std::string& setting, const std::string& suffix,
                 runtime::TimePoint started, std::string& directory) {
  TrainFlags one = flags;
  one.overrides.push_back(setting);
  one.name += suffix;
  absl::StatusOr<Prepared> prepared = Prepare(one);
  if (prepared.ok()) directory = prepared->directory.path();
  return RunPrepared(std::move(prepared), started);
}

}  // namespace

int RunAblation(const TrainFlags& flags, runtime::TimePoint started) {
  const runtime::StopSignals signals;
  std::vector<double> success;
  for (const std::string& ablate : {std::string(), flags.ablate}) {
    std::string directory;
    const int code =
        EvaluateWith(flags, "environment.ablate=" + TomlText(ablate),
                     ablate.empty() ? "-full" : "-without-" + ablate, started, directory);
    if (code != 0) return code;
    const absl::StatusOr<double> reached = SuccessOf(directory);
    if (!reached.ok()) return FailCommand(reached.status());
    success.push_back(*reached);
  }
  std::printf("result ablate=%s success=%.3f full=%.3f\n", flags.ablate.c_str(), success[1],
              success[0]);
  return 0;
}

int RunExchange(const TrainFlags& flags, runtime::TimePoint started) {
  const runtime::StopSignals signals;
  std::vector<std::vector<EpisodeOutcome>> worlds;
  for (const bool exchange : {false, true}) {
    std::string directory;
    const int code =
        EvaluateWith(flags, std::string("environment.exchange=") + (exchange ? "true" : "false"),
                     exchange ? "-exchanged" : "-drawn", started, directory);
    if (code != 0) return code;
    const absl::StatusOr<std::string> lines =
        runtime::ReadFile(directory + "/evaluations/final.jsonl");
    if (!lines.ok()) return FailCommand(lines.status());
    absl::StatusOr<std::vector<EpisodeOutcome>> episodes = ParseEpisodes(*lines);
    if (!episodes.ok()) return FailCommand(episodes.status());
    worlds.push_back(*std::move(episodes));
  }
  const ExchangeScore score = CompareExchanged(worlds[0], worlds[1]);
  std::printf("result exchanged=%.3f pairs=%lld\n", score.share(),
              static_cast<long long>(score.pairs));
  return 0;
}

}  // namespace shoal::cli
