// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/do_command.h"

#include <absl/strings/str_cat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actor/solver/policy_solver.h"
#include "cli/cluster/local_cluster.h"
#include "cli/commands/consent.h"
#include "cli/commands/do_job.h"
#include "cli/commands/present_capture.h"
#include "cli/session/run_directory.h"
#include "operate/planner.h"
#include "platform/runtime/config.h"
#include "platform/runtime/log.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/capture_path.h"
#include "redfish/capture/uri.h"
#include "text/intent/intent_parser.h"
#include "text/lexical/lexical_encoder.h"

namespace shoal::cli {
namespace {

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
  for (std::size_t i = 0; i < job.hosts.size(); ++i) {
    const std::string& password = job.options[i].access.password;
    if (password.empty()) continue;
    const std::string& file = job.hosts[i].access.password_file;
    const bool is_usual = file == flags.access.password_file;
    secrets[is_usual ? "login password" : "login password of " + file] = password;
  }
  job.secrets = operate::Secrets(std::move(secrets));
  job.permissions.budget = flags.budget;
  job.permissions.methods.insert(flags.methods.begin(), flags.methods.end());
  return job.permissions.AllowUris(flags.uris, "--allow-uri");
}

// Lists the hosts that flags and the file name, and reads how they are reached.
absl::Status ListHosts(Job& job) {
  const DoFlags& flags = job.flags;
  operate::ListedHost host = {.capture = flags.capture, .access = flags.access, .place = "--host"};
  for (const std::string& url : flags.hosts) {
    host.url = url;
    job.hosts.push_back(host);
  }
  if (!flags.host_file.empty()) {
    SHOAL_ASSIGN_OR_RETURN(const std::vector<operate::ListedHost> listed,
                           operate::ReadHosts(flags.host_file, host));
    job.hosts.insert(job.hosts.end(), listed.begin(), listed.end());
  }
  for (const operate::ListedHost& one : job.hosts) {
    if (one.capture.empty()) continue;
    const auto found = redfish::FindCapture(one.capture, flags.data);
    const bool is_usual = one.capture == flags.capture;
    if (!found.ok()) {
      return runtime::Annotate(found.status(), is_usual ? "--capture" : one.place);
    }
  }
  if (job.hosts.empty()) return runtime::InvalidArgument("--host or --hosts is required");
  SHOAL_ASSIGN_OR_RETURN(job.options, operate::HostOptionsOf(job.hosts));
  return absl::OkStatus();
}

// Returns the capture that the host is listed with, or else crawls it.
absl::StatusOr<std::shared_ptr<const redfish::Capture>> CaptureOf(const Job& job,
                                                                  std::size_t number) {
  const operate::ListedHost& host = job.hosts[number];
  StopWatch& watch = *job.watch;
  if (host.capture.empty()) {
    return CrawlPresent(job.options[number].access, [&watch] { return watch.Wait({}); });
  }
  SHOAL_ASSIGN_OR_RETURN(const std::string path,
                         redfish::FindCapture(host.capture, job.flags.data));
  return redfish::Capture::Load(path);
}

// Opens the logs that the hosts have, and finds the commands that have not ended there.
absl::Status OpenLogs(Job& job) {
  const DoFlags& flags = job.flags;
  for (const operate::HostOptions& options : job.options) {
    const std::string path = LogOf(flags, options.access.connection.address);
    std::unique_ptr<operate::AuditLog>& log = job.logs.emplace_back();
    std::error_code error;
    if (!std::filesystem::exists(path, error)) continue;
    SHOAL_ASSIGN_OR_RETURN(log, operate::AuditLog::Open(path, runtime::SystemClock()));
    if (log->unfinished() == nullptr || flags.abandon) continue;
    const std::string command = redfish::TextAt(log->unfinished()->plan, "command");
    if (!command.empty()) job.open_commands.insert(command);
  }
  return absl::OkStatus();
}

// Returns whether the log's last operation reached its goal in a command that has not ended.
bool IsDone(const Job& job, const operate::AuditLog& log) {
  return log.last() && log.last()->outcome == "reached" &&
         job.open_commands.contains(redfish::TextAt(log.last()->plan, "command"));
}

// Recalls the secrets of the sentence where the logs of all hosts hold operations of it, with the
// same values given beside it, that have not all ended. The hosts are half changed then, so the
// sentence may not apply to them any more.
void Recall(Job& job) {
  const DoFlags& flags = job.flags;
  if (flags.sentence.empty() || flags.abandon) return;
  std::optional<operate::Secrets> recalled;
  for (const auto& log : job.logs) {
    const bool is_begun = log != nullptr && (log->unfinished() != nullptr || IsDone(job, *log));
    if (!is_begun) return;
    auto secrets = operate::RecallSecrets(log->last()->plan, flags.sentence, job.given);
    if (!secrets) return;
    if (log->unfinished() != nullptr) recalled = std::move(secrets);
  }
  job.recalled = std::move(recalled);
}

// Understands the sentence in the terms of the first host. INVALID_ARGUMENT with the reason when it
// is refused.
absl::Status Understand(Job& job) {
  const DoFlags& flags = job.flags;
  if (flags.sentence.empty()) {
    return runtime::InvalidArgument("a sentence is needed, or --goal");
  }
  SHOAL_ASSIGN_OR_RETURN(job.understood, CaptureOf(job, 0));
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

// Names the command: one of those that it goes on with, or a name that no other one has.
void NameCommand(Job& job) {
  std::set<std::string> own;
  for (const auto& log : job.logs) {
    if (log == nullptr || log->unfinished() == nullptr) continue;
    const nlohmann::json& plan = log->unfinished()->plan;
    const std::string command = redfish::TextAt(plan, "command");
    if (!job.open_commands.contains(command)) continue;
    const auto announcement = operate::ParseAnnouncement(plan, job.secrets);
    if (announcement.ok() && IsSame(job, *announcement)) own.insert(command);
  }
  job.open_commands = std::move(own);
  job.command = job.open_commands.empty()
                    ? absl::StrCat(absl::Hex(runtime::SystemClock().UnixNanos()), "-", ::getpid())
                    : *job.open_commands.begin();
}

// Says what was done before. Returns whether the operation of the log goes on; another one of which
// nothing was sent is left. FAILED_PRECONDITION when more was done of another one.
absl::StatusOr<bool> TakeUp(const Job& job, Operation& operation) {
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
  const bool is_same = announcement.ok() && IsSame(job, *announcement);
  if (!is_same && past.steps.empty() && !job.recalled) {
    operation.leaves = "nothing was sent";
    std::printf("An operation of %s was not begun: goal %s. It ends where this one begins.\n",
                past.began.c_str(), redfish::TextAt(past.plan, "goal").c_str());
    return false;
  }
  if (!announcement.ok()) {
    return absl::Status(announcement.status().code(),
                        unended + "; " + runtime::Message(announcement.status()));
  }
  operation.announcement = *announcement;
  std::printf("An operation of %s has not ended: goal %s, %zu of %zu requests were begun.\n%s",
              past.began.c_str(), operation.announcement.goal.c_str(), count,
              operation.announcement.steps.size(), done.c_str());
  if (!is_same) return runtime::FailedPrecondition(unended);
  return true;
}

// Returns whether an earlier call of this command has reached the goal on the host, and says so.
bool TakeAsDone(const Job& job, const std::string& host, Operation& operation) {
  if (!IsDone(job, *operation.log)) return false;
  const operate::PastOperation& past = *operation.log->last();
  auto announcement = operate::ParseAnnouncement(past.plan, job.secrets);
  if (!announcement.ok() || !IsSame(job, *announcement)) return false;
  operation.announcement = *std::move(announcement);
  operation.is_done = true;
  std::printf("%s: goal %s was reached by this command, in the operation of %s.\n", host.c_str(),
              operation.announcement.goal.c_str(), past.began.c_str());
  return true;
}

absl::Status Prepare(Job& job, std::size_t number, operate::Planner& planner) {
  const DoFlags& flags = job.flags;
  const operate::HostOptions& options = job.options[number];
  StopWatch& watch = *job.watch;
  Operation operation;
  operation.log = std::move(job.logs[number]);
  if (operation.log == nullptr) {
    SHOAL_ASSIGN_OR_RETURN(operation.log,
                           operate::AuditLog::Open(LogOf(flags, options.access.connection.address),
                                                   runtime::SystemClock()));
  }
  operation.host = std::make_unique<operate::Host>(
      options, runtime::SystemClock(),
      [&watch](runtime::Duration time) { return watch.Wait(time); });
  if (TakeAsDone(job, operation.host->name(), operation)) {
    job.operations.push_back(std::move(operation));
    return absl::OkStatus();
  }
  if (operation.log->unfinished() != nullptr && flags.abandon) operation.leaves = "";
  bool goes_on = operation.past() != nullptr;
  if (goes_on) {
    SHOAL_ASSIGN_OR_RETURN(goes_on, TakeUp(job, operation));
  }
  if (goes_on) {
    SHOAL_RETURN_IF_ERROR(operation.host->Enter());
  } else {
    if (job.recalled) {
      return runtime::FailedPrecondition(
          operation.log->path() +
          " holds an operation of this command with other values: " + "--abandon plans anew");
    }
    std::shared_ptr<const redfish::Capture> capture = number == 0 ? job.understood : nullptr;
    if (capture == nullptr) {
      SHOAL_ASSIGN_OR_RETURN(capture, CaptureOf(job, number));
    }
    SHOAL_RETURN_IF_ERROR(operation.host->Enter());
    SHOAL_ASSIGN_OR_RETURN(operation.announcement,
                           planner.Plan(*operation.host, *capture, job.wish));
    operation.announcement.command = job.command;
    operation.announcement.is_understood = flags.goals.empty();
    for (const auto& [name, value] : job.given) operation.announcement.given.push_back(name);
  }
  std::printf("%s", operate::AnnouncementText(operation.announcement, job.secrets).c_str());
  std::fflush(stdout);
  SHOAL_RETURN_IF_ERROR(job.permissions.Check(operation.announcement.steps));
  job.operations.push_back(std::move(operation));
  return absl::OkStatus();
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
  SHOAL_RETURN_IF_ERROR(ListHosts(job));
  SHOAL_RETURN_IF_ERROR(OpenLogs(job));
  if (flags.goals.empty()) Recall(job);
  if (flags.goals.empty() && !job.recalled) SHOAL_RETURN_IF_ERROR(Understand(job));
  SHOAL_ASSIGN_OR_RETURN(redfish::GoalSuite suite, redfish::LoadGoals(flags.data + "/goals"));
  SHOAL_RETURN_IF_ERROR(ReadWish(suite, job));
  NameCommand(job);
  SHOAL_ASSIGN_OR_RETURN(auto schema,
                         redfish::Schema::Load(flags.data + "/schema/redfish.schema.zst"));
  if (!flags.policy.empty()) SHOAL_RETURN_IF_ERROR(TakePolicy(schema, job));
  operate::Planner planner(std::move(schema), std::move(suite), *job.solver);
  for (std::size_t i = 0; i < job.hosts.size(); ++i) {
    SHOAL_RETURN_IF_ERROR(Prepare(job, i, planner));
  }
  job.policy_server.reset();
  const Need need = NeedOf(job);
  if (flags.budget >= 0 && need.sent + need.open > flags.budget) {
    return absl::PermissionDeniedError(
        absl::StrCat("the plans need ", need.open, " requests beside the ", need.sent,
                     " that were sent, and the budget is ", flags.budget));
  }
  return absl::OkStatus();
}

int RunDo(const DoFlags& flags) {
  Job job;
  job.flags = flags;
  job.watch = std::make_unique<StopWatch>();
  const absl::Status prepared = PrepareAll(job);
  if (!prepared.ok()) return FailJob(job, prepared);
  const bool is_open = std::any_of(job.operations.begin(), job.operations.end(),
                                   [](const Operation& operation) { return operation.is_open(); });
  if (is_open && !flags.execute) {
    // Ctrl-C ends the question.
    job.watch->Suspend();
    const bool consents = SaysYes();
    job.watch->Resume();
    if (!consents) {
      SayNothingWasSent();
      for (Operation& operation : job.operations) operation.host->Leave();
      return 0;
    }
  }
  return ExecuteAll(job);
}

}  // namespace

void AddDo(CLI::App& app, std::function<int()>& action) {
  const auto flags = std::make_shared<DoFlags>();
  CLI::App* const command = app.add_subcommand(
      "do",
      "Reach goals on real hosts: what would change is tried on a twin and announced, and sent "
      "only with --execute or a line \"yes\"");
  AddDoFlags(*command, *flags);
  command->footer(
      "Exit codes: 0 all is reached or held already, or the plan was only announced; 1 a host "
      "or the log failed; 2 wrong flags, files or credentials, or the twin does not "
      "reach the goal; 3 the host differs from its twin, "
      "or a request's fate is unclear; 4 not permitted; 5 interrupted. After 1 and 5 the same "
      "command goes on from there, passes over hosts that it is done with, and counts earlier "
      "requests against the budget.");
  command->callback([flags, &action] { action = [flags] { return RunDo(*flags); }; });
}

}  // namespace shoal::cli
