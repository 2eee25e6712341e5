// SPDX-License-Identifier: Apache-2.0
// The log of what was done to hosts: one JSON object a line, without secrets.
//
//   {"record": "plan", "time": .., "plan": {..}}                 an operation begins
//   (announcement.h); nothing has been sent
//   {"record": "send", "step": 0, "attempt": 1, "method", "uri", "body", "before": {..}}
//   {"record": "answer", "step": 0, "status": 204, "location": ""}
//   {"record": "lost" | "unsent", "step": 0, "reason": ".."}      instead of an answer
//   {"record": "done", "step": 0, "how": ".., "made": {..}}      the host shows what was announced
//   {"record": "interrupted"}                                     somebody stopped the command
//   {"record": "end", "outcome": "reached" | "stopped" | "abandoned", "reason": ".."}
//
// "before" holds what the host showed right before the request, by "<uri> <pointer>", and "made"
// maps the twin's URIs of new resources to those of the host. Every record is on the disk before
// Append returns, so a "send" is there before its request leaves. A last line that was torn is cut
// off, before anything is read. At most one process uses a log at a time. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "platform/runtime/appended_file.h"
#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"

namespace shoal::operate {

// What the log says about a step of an operation.
struct PastStep {
  // The last "before"; nothing when the request was never sent.
  std::optional<nlohmann::json> before = std::nullopt;
  // The requests that were sent or may have been.
  std::int64_t sent = 0;
  // The answer to the last attempt. 0 means that none came.
  int status = 0;
  std::string location = {};
  // Whether the last attempt did not leave.
  bool is_unsent = false;
  bool is_done = false;
};

struct PastOperation {
  // Returns the requests that were sent or may have been.
  std::int64_t sent() const;
  // Returns the steps of the plan whose request was never sent.
  std::int64_t unsent() const;

  // The announcement as it was logged.
  nlohmann::json plan = nullptr;
  std::string began = {};
  std::map<std::size_t, PastStep> steps = {};
  // The URIs of the host for those of the twin.
  std::map<std::string, std::string> made = {};
  // How it ended; empty while it has not.
  std::string outcome = {};
};

class AuditLog {
 public:
  // Opens or makes the log and reads it. FAILED_PRECONDITION when another process uses it;
  // DATA_LOSS naming the line that is no record; other errors are the file system's.
  static absl::StatusOr<std::unique_ptr<AuditLog>> Open(const std::string& path,
                                                        runtime::Clock& clock);

  // Writes the record with the time, and syncs it. After an error the log is as it was before, or
  // takes no more records until it is. RESOURCE_EXHAUSTED when the disk is full; other errors are
  // the file system's.
  absl::Status Append(nlohmann::json record);

  // The last operation; nothing in a new log.
  const std::optional<PastOperation>& last() const { return last_; }
  // The last operation if it has no "end", and else null.
  const PastOperation* unfinished() const {
    return last_ && last_->outcome.empty() ? &*last_ : nullptr;
  }
  const std::string& path() const { return path_; }

 private:
  AuditLog(std::string path, std::unique_ptr<runtime::AppendedFile> file, runtime::Clock& clock)
      : path_(std::move(path)), file_(std::move(file)), clock_(clock) {}
  absl::Status Read();
  void Take(const nlohmann::json& record);

  const std::string path_;
  const std::unique_ptr<runtime::AppendedFile> file_;
  runtime::Clock& clock_;
  std::optional<PastOperation> last_;
};

}  // namespace shoal::operate
