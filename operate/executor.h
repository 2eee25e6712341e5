// SPDX-License-Identifier: Apache-2.0
// Carries a logged announcement out on its host, step by step, and stops at the first difference
// from the twin that matters.
//
// For each step it
//   1. reads what the step changes. Where the host already shows the result of a PATCH, PUT or
//      DELETE, nothing is sent; where it shows neither the state before nor the one after, it
//      stops, since the host has changed since it was read;
//   2. checks the permissions, takes one request from the budget, and logs the request;
//   3. sends it, with If-Match where the host gave an ETag, and logs the answer. A request that was
//      not sent, or was answered 429 or 503 with Retry-After, is sent again. After 412 the resource
//      is read again. A lost answer, or another 5xx, is first judged by reading (FateOf); a third
//      5xx is a difference. 400, 409 and 412 are success if the host shows the result, as are 401,
//      404 and 410 to a DELETE. What a POST made is known by the answer's Location, or else by what
//      a new member shows (ShowsRequest); where that tells nothing, it stops;
//   4. follows a task (202) and reads until the host shows what the twin showed.
// At last it reads the goal's conditions. A password that these ask for is tried kRefusedLogins
// times at most. Blocks. Not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operate/announcement.h"
#include "operate/audit_log.h"
#include "operate/comparison.h"
#include "operate/host.h"
#include "operate/permissions.h"
#include "operate/secrets.h"
#include "platform/runtime/status.h"

namespace shoal::operate {

struct ExecutionOptions {
  // How long the host may take to show the result of a step, tasks included.
  std::chrono::milliseconds settle{600'000};
  // How long to look before a request whose answer was lost counts as not carried out.
  std::chrono::milliseconds doubt{5'000};
  // The pause between two looks. It doubles up to the longest.
  std::chrono::milliseconds look{200};
  std::chrono::milliseconds longest_look{5'000};
  // The pause after a login that was refused, which a password may need to take effect.
  std::chrono::milliseconds login{15'000};
  // The limit for the whole execution; none means no limit.
  std::optional<std::chrono::milliseconds> deadline = std::nullopt;
  // The most attempts of one request, at least 1.
  std::int64_t attempts = kRepetitions + 1;
};

enum class Outcome {
  kReached,
  // The host differs from the twin, or the fate of a request is unclear.
  kStopped,
  // A permission is missing, or the budget is spent.
  kNotPermitted,
  // Somebody stopped the command, or its time was over. It may be resumed.
  kInterrupted,
  // The host or the log failed. It may be resumed.
  kFailed,
};

struct Execution {
  Outcome outcome = Outcome::kFailed;
  // Why it did not reach the goal, in sentences.
  std::string reason = {};
  // The number of requests that were sent.
  std::int64_t sent = 0;
};

// Begins an operation in the log. PERMISSION_DENIED when no log could hold the plan, since a secret
// in it is not known; other errors are those of ToJson and AuditLog::Append.
absl::Status LogPlan(const Announcement& announcement, const Secrets& secrets, AuditLog& log);

class Executor {
 public:
  // Receives one line for each thing that happens, without secrets.
  using Say = std::function<void(const std::string&)>;

  // Borrows all arguments but the options.
  Executor(Host& host, AuditLog& log, const Permissions& permissions, Budget& budget,
           const Secrets& secrets, ExecutionOptions options, Say say);

  // Carries the announcement out from where the log's operation is. REQUIRES: the log's operation
  // is that of `announcement`, and has not ended.
  Execution Run(const Announcement& announcement);

 private:
  absl::Status RunSteps(const Announcement& announcement, const PastOperation& past);
  absl::Status RunStep(const Announcement& announcement, std::size_t number, const PastStep* past);
  // Returns whether the step must be sent; else the host shows its result already.
  absl::StatusOr<bool> Begin(const Step& step, nlohmann::json& before);
  absl::Status SendUntilDone(const Step& step, std::size_t number, nlohmann::json& before,
                             bool in_doubt);
  // Returns whether the step is carried out, so that only its result has to be awaited.
  absl::StatusOr<bool> Judge(const Step& step, std::size_t number, const HostAnswer& answer,
                             bool is_repeated, const nlohmann::json& before);
  // Returns whether a request whose answer was lost was carried out.
  absl::StatusOr<bool> Doubt(const Step& step, const nlohmann::json& before);
  absl::Status AwaitTask(const Step& step);
  absl::Status Settle(const Step& step, std::size_t number, const nlohmann::json& before);
  absl::Status Verify(const Announcement& announcement);

  absl::StatusOr<Sight> Look(const Step& step);
  // Looks once the request was sent, and finds what it made.
  absl::StatusOr<Sight> LookAfter(const Step& step, const nlohmann::json& before);
  // Maps new members of the host's collections to those that the twin made. Returns the new members
  // of the collection to which the step posts, where none of them can be told to be the step's own.
  absl::StatusOr<std::vector<std::string>> MatchMembers(const Step& step,
                                                        const nlohmann::json& before,
                                                        const nlohmann::json& now);
  absl::Status Log(nlohmann::json record, std::size_t number);
  // Waits; CANCELLED or DEADLINE_EXCEEDED when the execution shall end.
  absl::Status Wait(std::chrono::milliseconds time);
  Execution Conclude(const absl::Status& status);

  Host& host_;
  AuditLog& log_;
  const Permissions& permissions_;
  Budget& budget_;
  const Secrets& secrets_;
  const ExecutionOptions options_;
  const Say say_;
  runtime::TimePoint began_;
  std::int64_t sent_ = 0;
  MadeUris made_;
  // The tokens of the sessions that steps made.
  std::map<std::size_t, std::string> tokens_;
  // The ETag of the last step's resource, and the URI of the task that it began.
  std::string etag_;
  std::string task_;
};

}  // namespace shoal::operate
