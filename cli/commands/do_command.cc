// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/do_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actor/solver/policy_solver.h"
#include "cli/cluster/local_cluster.h"
#include "cli/cluster/policy_server.h"
#include "cli/commands/command_result.h"
#include "cli/commands/host_access.h"
#include "cli/commands/present_capture.h"
#include "cli/session/run_directory.h"
#include "operate/audit_log.h"
#include "operate/executor.h"
#include "operate/goal_choice.h"
#include "operate/planner.h"
#include "operate/solver.h"
#include "platform/runtime/config.h"
#include "platform/runtime/log.h"
#include "platform/runtime/program.h"
#include "platform/runtime/stop_signals.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/capture_path.h"
#include "text/intent/intent_parser.h"
#include "text/lexical/lexical_encoder.h"

namespace shoal::cli {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

struct DoFlags {
  std::string sentence;
  // The numbers or names of goals; empty for what the sentence asks for.
  std::vector<std::string> goals;
  std::vector<std::string> settings;
  std::vector<std::string> setting_files;
  std::vector<std::string> hosts;
  std::string capture;
  std::string data = "data";
  std::string audit = "runs/do";
  // The folder of the run whose policy solves the goal; empty for the expert's plan.
  std::string policy;
  operate::HostAccess access;
  std::int64_t budget = -1;
  std::vector<std::string> uris;
  std::vector<std::string> methods;
  double settle_seconds = 600;
  double doubt_seconds = 5;
  double deadline_minutes = 0;
  bool execute = false;
  bool abandon = false;
};

milliseconds Milliseconds(double seconds) {
  return duration_cast<milliseconds>(duration<double>(seconds));
}

// Waits until a stop signal comes. Once one came, it does not wait any more.
class StopWatch {
 public:
  bool Wait(runtime::Duration time) {
    stopped_ = stopped_ || runtime::StopSignals::Wait(time);
    return stopped_;
  }
  // While signals are not watched, they end the process.
  void Suspend() { signals_.reset(); }
  void Resume() { signals_.emplace(); }

 private:
  std::optional<runtime::StopSignals> signals_ = std::make_optional<runtime::StopSignals>();
  bool stopped_ = false;
};

// One host with its log, from the plan to the end.
struct Operation {
  std::unique_ptr<operate::AuditLog> log;
  std::unique_ptr<operate::Host> host;
  operate::Announcement announcement;
  // The operation of the log that goes on.
  std::optional<operate::PastOperation> past;
};

struct Job {
  DoFlags flags;
  operate::Wish wish;
  // Announcement::values of the wish.
  nlohmann::json values;
  // The values that flags give.
  redfish::Values given;
  // The secrets of the sentence where the log holds an unfinished operation of it. What it asks for
  // stands in the log then, and the wish has no goals.
  std::optional<operate::Secrets> recalled = std::nullopt;
  // The log in which that was looked for.
  std::unique_ptr<operate::AuditLog> log = nullptr;
  operate::Permissions permissions;
  operate::Secrets secrets;
  std::unique_ptr<StopWatch> watch;
  std::vector<Operation> operations;
  // Null where the expert's plan solves the goal.
  std::unique_ptr<PolicyServer> policy_server = nullptr;
  std::unique_ptr<operate::Solver> solver = std::make_unique<operate::ExpertSolver>();
  // What the sentence was understood against, and the host that it is of. Null when a flag names
  // the goal.
  std::shared_ptr<const redfish::Capture> understood = nullptr;
};

std::string LogOf(const DoFlags& flags, const std::string& address) {
  std::string name = address;
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '-'; }, '_');
  return flags.audit + "/" + name + ".jsonl";
}

// Reads the values that the flags give.
absl::Status ReadGiven(Job& job) {
  for (const std::string& setting : job.flags.settings) {
    SHOAL_RETURN_IF_ERROR(operate::AddSetting(setting, job.given));
  }
  for (const std::string& setting : job.flags.setting_files) {
    SHOAL_RETURN_IF_ERROR(operate::AddSettingFile(setting, job.given));
  }
  return absl::OkStatus();
}

// Reads what the flags say about the goals' values, their secrets and the permissions.
absl::Status ReadWish(const redfish::GoalSuite& suite, Job& job) {
  const DoFlags& flags = job.flags;
  std::map<std::string, std::string> secrets;
  if (job.recalled) {
    secrets = job.recalled->values();
  } else {
    // A password that the sentence says is one even where a flag gives another.
    SHOAL_ASSIGN_OR_RETURN(const operate::Secrets said, operate::SecretsOf(suite, job.wish));
    SHOAL_RETURN_IF_ERROR(operate::GiveValues(suite, job.given, job.wish));
    for (operate::GoalChoice& choice : job.wish.goals) {
      SHOAL_ASSIGN_OR_RETURN(const auto goal, operate::FindGoal(suite, choice.goal));
      choice.goal = goal->name();
    }
    SHOAL_ASSIGN_OR_RETURN(const operate::Secrets own, operate::SecretsOf(suite, job.wish));
    secrets = own.values();
    for (const auto& [name, secret] : said.values()) {
      const auto known = secrets.find(name);
      if (known == secrets.end() || known->second != secret) secrets["said " + name] = secret;
    }
    job.values = operate::ValuesOf(job.wish);
  }
  if (!flags.access.password_file.empty()) {
    SHOAL_ASSIGN_OR_RETURN(secrets["login password"], operate::ReadLoginPassword(flags.access));
  }
  job.secrets = operate::Secrets(std::move(secrets));
  job.permissions.budget = flags.budget;
  job.permissions.methods.insert(flags.methods.begin(), flags.methods.end());
  return job.permissions.AllowUris(flags.uris, "--allow-uri");
}

// Returns the capture that --capture names, or else crawls the host.
absl::StatusOr<std::shared_ptr<const redfish::Capture>> CaptureOf(
    const Job& job, const discovery::CrawlOptions& access) {
  const DoFlags& flags = job.flags;
  StopWatch& watch = *job.watch;
  if (flags.capture.empty()) return CrawlPresent(access, [&watch] { return watch.Wait({}); });
  SHOAL_ASSIGN_OR_RETURN(const std::string path, redfish::FindCapture(flags.capture, flags.data));
  return redfish::Capture::Load(path);
}

// Recalls the secrets of the sentence where the one host's log holds an operation of it that has
// not ended, with the same values given beside it. The host is half changed then, so the sentence
// may not apply to it any more.
absl::Status Recall(Job& job) {
  const DoFlags& flags = job.flags;
  if (flags.sentence.empty() || flags.abandon || flags.hosts.size() != 1) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(const operate::HostOptions options,
                         operate::HostOptionsOf(flags.access, flags.hosts.front()));
  const std::string path = LogOf(flags, options.access.connection.address);
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return absl::OkStatus();
  SHOAL_ASSIGN_OR_RETURN(job.log, operate::AuditLog::Open(path, runtime::SystemClock()));
  if (!job.log->unfinished()) return absl::OkStatus();
  job.recalled = operate::RecallSecrets(job.log->unfinished()->plan, flags.sentence, job.given);
  return absl::OkStatus();
}

// Understands the sentence in the terms of the first host. INVALID_ARGUMENT with the reason when it
// is refused.
absl::Status Understand(Job& job) {
  const DoFlags& flags = job.flags;
  if (flags.sentence.empty()) {
    return runtime::InvalidArgument("a sentence is needed, or --goal");
  }
  SHOAL_ASSIGN_OR_RETURN(const operate::HostOptions options,
                         operate::HostOptionsOf(flags.access, flags.hosts.front()));
  SHOAL_ASSIGN_OR_RETURN(job.understood, CaptureOf(job, options.access));
  SHOAL_ASSIGN_OR_RETURN(const auto encoder,
                         tokens::LexicalEncoder::Create(flags.data + "/encoder/lexical.idf"));
  SHOAL_ASSIGN_OR_RETURN(const auto parser, intent::IntentParser::Create(
                                                flags.data + "/goals", *job.understood, *encoder));
  SHOAL_ASSIGN_OR_RETURN(const std::vector<intent::Intent> intents,
                         parser->ParseGoals(flags.sentence));
  for (const intent::Intent& intent : intents) {
    if (!intent.refusal.empty()) {
      return runtime::InvalidArgument("the sentence is not understood: " + intent.refusal);
    }
    job.wish.goals.push_back({.goal = intent.goal,
                              .values = intent.values,
                              .targets = intent.targets,
                              .sentence = intent.text});
    std::printf("Understood as goal %s (score %.2f).\n", intent.goal.c_str(), intent.score);
  }
  return absl::OkStatus();
}

// Returns whether the goal, or one of the goals, of an operation has the value.
bool HasValue(const operate::Announcement& announcement, const std::string& name,
              const nlohmann::json& value) {
  const nlohmann::json& values = announcement.values;
  const auto has = [&](const nlohmann::json& one) {
    return one.is_object() && one.contains(name) && one.at(name) == value;
  };
  return has(values) || (values.is_array() && std::any_of(values.begin(), values.end(), has));
}

// Returns whether an operation of the log is what the command asks for.
bool IsSame(const Job& job, const operate::Announcement& announcement) {
  if (job.recalled) {
    return std::all_of(job.given.begin(), job.given.end(), [&announcement](const auto& given) {
      return HasValue(announcement, given.first, given.second);
    });
  }
  return announcement.goal == operate::NameOf(job.wish) &&
         job.secrets.Hide(announcement.values) == job.secrets.Hide(job.values);
}

// Says what was done before. FAILED_PRECONDITION when the log holds another operation.
absl::Status TakeUp(const Job& job, Operation& operation) {
  const operate::PastOperation& past = *operation.log->unfinished();
  std::string done;
  std::size_t count = 0;
  for (const auto& [number, step] : past.steps) {
    const char* state = step.is_done       ? "is done"
                        : step.is_unsent   ? "was not sent"
                        : step.status != 0 ? "was answered, and its result was not seen"
                                           : "was sent, and its answer is not known";
    done += "  request " + std::to_string(number + 1) + " " + state + "\n";
    ++count;
  }
  const std::string unended = operation.log->path() +
                              " holds an operation that has not ended: the same command goes on " +
                              "with it, --abandon leaves it as it is";
  const auto announcement = operate::ParseAnnouncement(past.plan, job.secrets);
  if (!announcement.ok()) {
    return absl::Status(announcement.status().code(),
                        unended + "; " + runtime::Message(announcement.status()));
  }
  operation.announcement = *announcement;
  std::printf("An operation of %s has not ended: goal %s, %zu of %zu requests were begun.\n%s",
              past.began.c_str(), operation.announcement.goal.c_str(), count,
              operation.announcement.steps.size(), done.c_str());
  if (!IsSame(job, operation.announcement)) return runtime::FailedPrecondition(unended);
  operation.past = past;
  return absl::OkStatus();
}

absl::Status Prepare(Job& job, const std::string& url, operate::Planner& planner) {
  const DoFlags& flags = job.flags;
  StopWatch& watch = *job.watch;
  SHOAL_ASSIGN_OR_RETURN(operate::HostOptions options, operate::HostOptionsOf(flags.access, url));
  Operation operation;
  operation.log = std::move(job.log);
  if (operation.log == nullptr) {
    SHOAL_ASSIGN_OR_RETURN(operation.log,
                           operate::AuditLog::Open(LogOf(flags, options.access.connection.address),
                                                   runtime::SystemClock()));
  }
  const discovery::CrawlOptions access = options.access;
  operation.host = std::make_unique<operate::Host>(
      std::move(options), runtime::SystemClock(),
      [&watch](runtime::Duration time) { return watch.Wait(time); });
  if (operation.log->unfinished() && flags.abandon) {
    SHOAL_RETURN_IF_ERROR(
        operation.log->Append({{"record", "end"}, {"outcome", "abandoned"}, {"reason", ""}}));
  }
  if (operation.log->unfinished()) {
    SHOAL_RETURN_IF_ERROR(TakeUp(job, operation));
    SHOAL_RETURN_IF_ERROR(operation.host->Enter());
  } else {
    const bool is_first = url == flags.hosts.front() && job.understood != nullptr;
    std::shared_ptr<const redfish::Capture> capture = is_first ? job.understood : nullptr;
    if (capture == nullptr) {
      SHOAL_ASSIGN_OR_RETURN(capture, CaptureOf(job, access));
    }
    SHOAL_RETURN_IF_ERROR(operation.host->Enter());
    SHOAL_ASSIGN_OR_RETURN(operation.announcement,
                           planner.Plan(*operation.host, *capture, job.wish));
    operation.announcement.is_understood = flags.goals.empty();
    for (const auto& [name, value] : job.given) operation.announcement.given.push_back(name);
  }
  std::printf("%s", operate::AnnouncementText(operation.announcement, job.secrets).c_str());
  std::fflush(stdout);
  SHOAL_RETURN_IF_ERROR(job.permissions.Check(operation.announcement.steps));
  job.operations.push_back(std::move(operation));
  return absl::OkStatus();
}

bool SaysYes() {
  if (::isatty(STDIN_FILENO) == 0) return false;
  std::printf("Type yes to send these requests: ");
  std::fflush(stdout);
  std::string line;
  return std::getline(std::cin, line) && line == "yes";
}

int CodeOf(operate::Outcome outcome) {
  switch (outcome) {
    case operate::Outcome::kReached:
      return 0;
    case operate::Outcome::kStopped:
      return kExitDifference;
    case operate::Outcome::kNotPermitted:
      return kExitNotPermitted;
    case operate::Outcome::kInterrupted:
      return kExitInterrupted;
    case operate::Outcome::kFailed:
      return runtime::kExitFailed;
  }
  return runtime::kExitFailed;
}

const char* WordOf(operate::Outcome outcome) {
  switch (outcome) {
    case operate::Outcome::kReached:
      return "reached";
    case operate::Outcome::kStopped:
      return "stopped";
    case operate::Outcome::kNotPermitted:
      return "not_permitted";
    case operate::Outcome::kInterrupted:
      return "interrupted";
    case operate::Outcome::kFailed:
      return "failed";
  }
  return "failed";
}

int Fail(const Job& job, const absl::Status& status) {
  const int code =
      FailCommand(absl::Status(status.code(), job.secrets.HideIn(runtime::Message(status))));
  if (absl::IsPermissionDenied(status)) return kExitNotPermitted;
  return absl::IsCancelled(status) ? kExitInterrupted : code;
}

// Returns the requests that may be sent to all hosts together.
std::int64_t BudgetOf(const Job& job) {
  std::int64_t announced = 0;
  for (const Operation& operation : job.operations) {
    announced += static_cast<std::int64_t>(operation.announcement.steps.size());
  }
  return job.permissions.budget < 0 ? announced * (1 + operate::kRepetitions)
                                    : job.permissions.budget;
}

operate::Execution Execute(const Job& job, Operation& operation, operate::Budget& budget) {
  operate::Executor executor(
      *operation.host, *operation.log, job.permissions, budget, job.secrets,
      {.settle = Milliseconds(job.flags.settle_seconds),
       .doubt = Milliseconds(job.flags.doubt_seconds),
       .deadline = job.flags.deadline_minutes > 0
                       ? std::optional(Milliseconds(60 * job.flags.deadline_minutes))
                       : std::nullopt},
      [&](const std::string& line) {
        std::printf("%s: %s\n", operation.host->name().c_str(), line.c_str());
        std::fflush(stdout);
      });
  return operation.past ? executor.Resume(operation.announcement, *operation.past)
                        : executor.Run(operation.announcement);
}

int ExecuteAll(Job& job) {
  operate::Budget budget(BudgetOf(job));
  int code = 0;
  for (Operation& operation : job.operations) {
    if (code != 0) {
      std::printf("%s: nothing was sent, as an earlier host has not reached the goal\n",
                  operation.host->name().c_str());
      continue;
    }
    operate::Execution execution = {.outcome = operate::Outcome::kReached};
    if (!operation.announcement.steps.empty()) execution = Execute(job, operation, budget);
    operation.host->Leave();
    if (!execution.reason.empty()) std::printf("%s\n", execution.reason.c_str());
    std::printf("do host=%s goal=%s outcome=%s announced=%zu sent=%lld audit=%s\n",
                operation.host->name().c_str(), operation.announcement.goal.c_str(),
                WordOf(execution.outcome), operation.announcement.steps.size(),
                static_cast<long long>(execution.sent), operation.log->path().c_str());
    code = CodeOf(execution.outcome);
  }
  if (code == kExitInterrupted || code == runtime::kExitFailed) {
    std::fprintf(stderr, "the same command goes on from here\n");
  }
  return code;
}

// Lets the policy of a run solve the goal.
absl::Status TakePolicy(const std::shared_ptr<const redfish::Schema>& schema, Job& job) {
  // That the policy cannot be reached before its server listens is no news.
  SHOAL_RETURN_IF_ERROR(runtime::SetUpLog("shoal", 0, "error"));
  const std::string& run = job.flags.policy;
  actor::PolicySolverOptions options = {.name = "the policy of " + run};
  runtime::Config config;
  config.Add("environment", options.environment);
  SHOAL_RETURN_IF_ERROR(config.Load(run + "/config.toml", {}));
  std::error_code error;
  std::filesystem::create_directories(job.flags.audit, error);
  SHOAL_ASSIGN_OR_RETURN(job.policy_server,
                         PolicyServer::Start({.programs = ProgramFolder(),
                                              .config_path = run + "/config.toml",
                                              .parameters = LearnedParameters(run),
                                              .log_path = job.flags.audit + "/inference.log"}));
  options.inference = job.policy_server->address();
  job.solver = std::make_unique<actor::PolicySolver>(
      std::move(options), schema, [&server = *job.policy_server, &watch = *job.watch] {
        return watch.Wait({}) ? absl::CancelledError("somebody stopped the command")
                              : server.Check();
      });
  return absl::OkStatus();
}

absl::Status PrepareAll(Job& job) {
  DoFlags& flags = job.flags;
  job.wish.sentence = flags.sentence;
  // Of several goals nobody knows which words ask for which.
  const std::string sentence = flags.goals.size() == 1 ? flags.sentence : "";
  for (const std::string& goal : flags.goals) {
    job.wish.goals.push_back({.goal = goal, .values = {}, .targets = {}, .sentence = sentence});
  }
  SHOAL_RETURN_IF_ERROR(ReadGiven(job));
  if (flags.goals.empty()) SHOAL_RETURN_IF_ERROR(Recall(job));
  if (flags.goals.empty() && !job.recalled) SHOAL_RETURN_IF_ERROR(Understand(job));
  SHOAL_ASSIGN_OR_RETURN(redfish::GoalSuite suite, redfish::LoadGoals(flags.data + "/goals"));
  SHOAL_RETURN_IF_ERROR(ReadWish(suite, job));
  SHOAL_ASSIGN_OR_RETURN(auto schema,
                         redfish::Schema::Load(flags.data + "/schema/redfish.schema.zst"));
  if (!flags.policy.empty()) SHOAL_RETURN_IF_ERROR(TakePolicy(schema, job));
  operate::Planner planner(std::move(schema), std::move(suite), *job.solver);
  for (const std::string& url : flags.hosts) SHOAL_RETURN_IF_ERROR(Prepare(job, url, planner));
  job.policy_server.reset();
  std::int64_t announced = 0;
  for (const Operation& operation : job.operations) {
    announced += static_cast<std::int64_t>(operation.announcement.steps.size());
  }
  if (flags.budget >= 0 && announced > flags.budget) {
    return absl::PermissionDeniedError("the plans need " + std::to_string(announced) +
                                       " requests, and the budget is " +
                                       std::to_string(flags.budget));
  }
  return absl::OkStatus();
}

int RunDo(const DoFlags& flags) {
  Job job;
  job.flags = flags;
  job.watch = std::make_unique<StopWatch>();
  const absl::Status prepared = PrepareAll(job);
  if (!prepared.ok()) return Fail(job, prepared);
  const bool is_open =
      std::any_of(job.operations.begin(), job.operations.end(),
                  [](const Operation& operation) { return !operation.announcement.steps.empty(); });
  if (is_open && !flags.execute) {
    // Ctrl-C ends the question.
    job.watch->Suspend();
    const bool consents = SaysYes();
    job.watch->Resume();
    if (!consents) {
      std::printf("Nothing was sent; --execute sends these requests.\n");
      for (Operation& operation : job.operations) operation.host->Leave();
      return 0;
    }
  }
  return ExecuteAll(job);
}

void AddLimits(CLI::App& command, DoFlags& flags) {
  command.add_option("--budget", flags.budget,
                     "requests that may change something, of all hosts together and with "
                     "repetitions; default: those announced, each repeated at most ten times");
  command
      .add_option("--allow-uri", flags.uris,
                  "a pattern of paths that may be written, * within a segment, ** across; "
                  "repeatable; default: what was announced")
      ->allow_extra_args(false);
  command
      .add_option("--allow-method", flags.methods,
                  "a method that may be used; repeatable; default: any that was announced")
      ->check(CLI::IsMember(operate::kChangingMethods))
      ->allow_extra_args(false);
  command
      .add_option("--settle", flags.settle_seconds,
                  "seconds that a host may take to show a result, tasks included")
      ->check(CLI::Range(0.0, 86'400.0))
      ->capture_default_str();
  command
      .add_option("--doubt", flags.doubt_seconds,
                  "seconds of looking before a request whose answer was lost counts as not done")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  command.add_option("--deadline", flags.deadline_minutes, "minutes for all requests; 0: no limit")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
}

}  // namespace

void AddDo(CLI::App& app, std::function<int()>& action) {
  const auto flags = std::make_shared<DoFlags>();
  CLI::App* const command = app.add_subcommand(
      "do",
      "Reach goals on real hosts: what would change is tried on a twin and announced, and sent "
      "only with --execute or a typed yes");
  command->add_option("SENTENCE", flags->sentence,
                      "what is wanted, in words; it may ask for several goals");
  command
      ->add_option("--goal", flags->goals,
                   "the number or name of a goal; repeatable: one after the other; default: what "
                   "the sentence asks for")
      ->allow_extra_args(false);
  command
      ->add_option("--set", flags->settings,
                   "a value of the goal that has it, Name=value; repeatable")
      ->allow_extra_args(false);
  command
      ->add_option("--set-file", flags->setting_files,
                   "a secret value of the goal, Name=FILE with the value in its first line; "
                   "repeatable")
      ->allow_extra_args(false);
  command
      ->add_option("--host", flags->hosts,
                   "https://host[:port]; repeatable: one host after the other, under one budget")
      ->required()
      ->allow_extra_args(false);
  AddHostAccess(*command, flags->access);
  command->add_option("--capture", flags->capture,
                      "an earlier capture of the host, whose accounts, sessions and the like are "
                      "those that belong there; without it the host is crawled");
  command->add_option("--data", flags->data, "folder of goals, schema and captures")
      ->capture_default_str();
  command
      ->add_option("--policy", flags->policy,
                   "a run, e.g. runs/latest, whose policy finds the requests; default: the goals' "
                   "expert plans")
      ->check(CLI::ExistingDirectory);
  command->add_option("--audit", flags->audit, "folder with a log of what was done for each host")
      ->capture_default_str();
  command->add_flag("--execute", flags->execute, "send the announced requests without asking");
  command->add_flag("--abandon", flags->abandon,
                    "leave an operation as it is that has not ended, and plan anew");
  AddLimits(*command, *flags);
  command->footer(
      "Exit codes: 0 all is reached or held already, or the plan was only announced; 1 a host "
      "or the log failed; 2 wrong flags, files or credentials, or the twin does not "
      "reach the goal; 3 the host differs from its twin, "
      "or a request's fate is unclear; 4 not permitted; 5 interrupted. After 1 and 5 the same "
      "command goes on from there.");
  command->callback([flags, &action] { action = [flags] { return RunDo(*flags); }; });
}

}  // namespace shoal::cli
