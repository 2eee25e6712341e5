// SPDX-License-Identifier: Apache-2.0
// One call of `shoal do`: what it is told, and the operation of each host.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cli/cluster/policy_server.h"
#include "cli/commands/do_flags.h"
#include "operate/announcement.h"
#include "operate/audit_log.h"
#include "operate/goal_choice.h"
#include "operate/host.h"
#include "operate/host_list.h"
#include "operate/permissions.h"
#include "operate/secrets.h"
#include "operate/solver.h"
#include "platform/runtime/status.h"
#include "platform/runtime/stop_signals.h"
#include "redfish/capture/capture.h"

namespace shoal::cli {

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
  // Whether an earlier call of the same command has reached the goal.
  bool is_done = false;
  // Why the operation that the log holds and that has not ended is left, where it is another one.
  // It ends once somebody consents to this one.
  std::optional<std::string> leaves = std::nullopt;

  // Whether there are requests to send.
  bool is_open() const { return !is_done && !announcement.steps.empty(); }
  // What the log holds of this operation while it has not ended, and else null.
  const operate::PastOperation* past() const { return leaves ? nullptr : log->unfinished(); }
};

struct Job {
  DoFlags flags;
  // The hosts of flags and file.
  std::vector<operate::ListedHost> hosts;
  // How each of them is reached.
  std::vector<operate::HostOptions> options = {};
  operate::Wish wish;
  // Announcement::values of the wish.
  nlohmann::json values;
  // The values that flags give.
  redfish::Values given;
  // The secrets of the sentence where the log holds an unfinished operation of it. What it asks for
  // stands in the log then, and the wish has no goals.
  std::optional<operate::Secrets> recalled = std::nullopt;
  // The logs of the hosts, in their order; null where there is none yet.
  std::vector<std::unique_ptr<operate::AuditLog>> logs = {};
  // The commands of which these hold operations that have not ended and, once the wish is known,
  // are those that it asks for; and the name of this command.
  std::set<std::string> open_commands = {};
  std::string command = {};
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

// Prints the error without secrets and returns the exit code.
int FailJob(const Job& job, const absl::Status& status);

// Ends the log's operation, which nobody goes on with. Errors are those of Append.
absl::Status Abandon(operate::AuditLog& log, const std::string& reason);

// The requests of all hosts together, also of earlier calls of the command.
struct Need {
  std::int64_t announced = 0;
  std::int64_t sent = 0;
  // Those that were announced and never sent.
  std::int64_t open = 0;
};

Need NeedOf(const Job& job);

// Carries out the operations that are prepared, one after the other until one fails, and returns
// the exit code. All plans are logged before anything is sent, also those of hosts that need
// nothing, whose operations end at once. REQUIRES: somebody consents, or nothing is open.
int ExecuteAll(Job& job);

}  // namespace shoal::cli
