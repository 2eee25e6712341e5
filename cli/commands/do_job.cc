// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/do_job.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "cli/commands/command_result.h"
#include "cli/commands/do_command.h"
#include "operate/change_report.h"
#include "operate/executor.h"
#include "platform/runtime/program.h"

namespace shoal::cli {
namespace {

using std::chrono::duration;
using std::chrono::duration_cast;
using std::chrono::milliseconds;

milliseconds Milliseconds(double seconds) {
  return duration_cast<milliseconds>(duration<double>(seconds));
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

// Returns the requests that may still be sent to all hosts together.
std::int64_t BudgetOf(const Job& job) {
  const Need need = NeedOf(job);
  const std::int64_t whole = job.permissions.budget < 0
                                 ? need.announced * (1 + operate::kRepetitions)
                                 : job.permissions.budget;
  return whole - need.sent;
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
  return executor.Run(operation.announcement);
}

// Logs all plans before anything is sent, so that a command that is killed between two hosts is
// known not to have ended. Where nothing is to be sent to any host, there is nothing to know.
absl::Status LogPlans(Job& job) {
  const bool sends = std::any_of(job.operations.begin(), job.operations.end(),
                                 [](const Operation& operation) { return operation.is_open(); });
  for (Operation& operation : job.operations) {
    if (operation.is_done) continue;
    if (operation.leaves && (sends || job.flags.abandon)) {
      SHOAL_RETURN_IF_ERROR(Abandon(*operation.log, *operation.leaves));
      operation.leaves.reset();
    }
    if (sends && operation.past() == nullptr) {
      SHOAL_RETURN_IF_ERROR(operate::LogPlan(operation.announcement, job.secrets, *operation.log));
    }
    if (!operation.is_open() && operation.past() != nullptr) {
      SHOAL_RETURN_IF_ERROR(operation.log->Append(
          {{"record", "end"}, {"outcome", "reached"}, {"reason", "nothing needed to change"}}));
    }
  }
  return absl::OkStatus();
}

// Ends the operation of a host to which nothing was sent, as no call goes on with the command.
void EndUnbegun(Operation& operation) {
  const operate::PastOperation* const past = operation.past();
  if (past == nullptr || !past->steps.empty()) return;
  const absl::Status ended =
      Abandon(*operation.log, "nothing was sent, as another host has failed");
  if (!ended.ok()) std::fprintf(stderr, "%s\n", runtime::Message(ended).c_str());
}

}  // namespace

int FailJob(const Job& job, const absl::Status& status) {
  const int code =
      FailCommand(absl::Status(status.code(), job.secrets.HideIn(runtime::Message(status))));
  if (absl::IsPermissionDenied(status)) return kExitNotPermitted;
  return absl::IsCancelled(status) ? kExitInterrupted : code;
}

absl::Status Abandon(operate::AuditLog& log, const std::string& reason) {
  return log.Append({{"record", "end"}, {"outcome", "abandoned"}, {"reason", reason}});
}

Need NeedOf(const Job& job) {
  Need need;
  for (const Operation& operation : job.operations) {
    const auto steps = static_cast<std::int64_t>(operation.announcement.steps.size());
    need.announced += steps;
    const operate::PastOperation* const past =
        operation.is_done ? &*operation.log->last() : operation.past();
    if (past != nullptr) need.sent += past->sent();
    if (!operation.is_done) need.open += past == nullptr ? steps : past->unsent();
  }
  return need;
}

int ExecuteAll(Job& job) {
  operate::Budget budget(BudgetOf(job));
  const absl::Status logged = LogPlans(job);
  if (!logged.ok()) {
    for (Operation& operation : job.operations) EndUnbegun(operation);
    return FailJob(job, logged);
  }
  int code = 0;
  const auto goes_on = [&code] { return code == kExitInterrupted || code == runtime::kExitFailed; };
  for (Operation& operation : job.operations) {
    if (code != 0 && operation.is_open()) {
      if (!goes_on()) EndUnbegun(operation);
      std::printf("%s: nothing was sent, as an earlier host has not reached the goal\n",
                  operation.host->name().c_str());
      continue;
    }
    operate::Execution execution = {.outcome = operate::Outcome::kReached};
    if (operation.is_open()) execution = Execute(job, operation, budget);
    if (!operation.is_done) operation.host->Leave();
    if (!execution.reason.empty()) std::printf("%s\n", execution.reason.c_str());
    if (operation.is_open() && execution.outcome != operate::Outcome::kReached) {
      const operate::PastOperation& past = *operation.log->last();
      std::printf("%s", operate::ChangeReport(operation.announcement, past).c_str());
    }
    std::printf("do host=%s goal=%s outcome=%s announced=%zu sent=%lld audit=%s\n",
                operation.host->name().c_str(), operation.announcement.goal.c_str(),
                WordOf(execution.outcome), operation.announcement.steps.size(),
                static_cast<long long>(execution.sent), operation.log->path().c_str());
    if (code == 0) code = CodeOf(execution.outcome);
  }
  if (goes_on()) {
    std::fprintf(stderr, "the same command goes on from here\n");
  }
  return code;
}

}  // namespace shoal::cli
