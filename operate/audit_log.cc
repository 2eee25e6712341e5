// SPDX-License-Identifier: Apache-2.0
#include "operate/audit_log.h"

#include <absl/strings/str_format.h>
#include <absl/time/time.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "redfish/capture/uri.h"

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

}  // namespace

std::int64_t PastOperation::sent() const {
  return std::accumulate(steps.begin(), steps.end(), std::int64_t{0},
                         [](std::int64_t sum, const auto& step) { return sum + step.second.sent; });
}

std::int64_t PastOperation::unsent() const {
  const Json* const planned = plan.is_object() ? redfish::Resolve(plan, "/steps") : nullptr;
  const auto begun = std::count_if(steps.begin(), steps.end(), [](const auto& step) {
    return step.second.sent > 0 || step.second.is_done;
  });
  return planned == nullptr ? 0 : static_cast<std::int64_t>(planned->size()) - begun;
}

absl::StatusOr<std::unique_ptr<AuditLog>> AuditLog::Open(const std::string& path,
                                                         runtime::Clock& clock) {
  SHOAL_ASSIGN_OR_RETURN(auto file, runtime::AppendedFile::OpenAlone(path, 0600));
  std::unique_ptr<AuditLog> log(new AuditLog(path, std::move(file), clock));
  SHOAL_RETURN_IF_ERROR(log->Read());
  return log;
}

absl::Status AuditLog::Append(Json record) {
  record["time"] = absl::FormatTime(
      absl::RFC3339_full, absl::FromUnixNanos(static_cast<std::int64_t>(clock_.UnixNanos())),
      absl::UTCTimeZone());
  SHOAL_RETURN_IF_ERROR(
      file_->AppendSynced(record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"));
  Take(record);
  return absl::OkStatus();
}

absl::Status AuditLog::Read() {
  SHOAL_ASSIGN_OR_RETURN(const std::string text, runtime::ReadFile(path_));
  std::size_t begin = 0;
  std::size_t number = 0;
  for (std::size_t end = text.find('\n'); end != text.npos; end = text.find('\n', begin)) {
    ++number;
    const Json record = Json::parse(text.substr(begin, end - begin), nullptr, false);
    if (!record.is_object() || !record.contains("record")) {
      return runtime::DataLoss(path_ + ":" + std::to_string(number) + " is no record");
    }
    Take(record);
    begin = end + 1;
  }
  return absl::OkStatus();
}

void AuditLog::Take(const Json& record) {
  const std::string kind = redfish::TextAt(record, "record");
  if (kind == "plan") {
    last_ = PastOperation{.plan = record.value("plan", Json()),
                          .began = redfish::TextAt(record, "time")};
  } else if (kind == "end" && last_) {
    const std::string outcome = redfish::TextAt(record, "outcome");
    last_->outcome = outcome.empty() ? "stopped" : outcome;
  }
  if (unfinished() == nullptr || !record.contains("step")) return;
  PastStep& step = last_->steps[static_cast<std::size_t>(redfish::IntegerAt(record, "step"))];
  if (kind == "send") {
    step.before = record.value("before", Json::object());
    ++step.sent;
    step.status = 0;
    step.is_unsent = false;
  } else if (kind == "answer") {
    step.status = static_cast<int>(redfish::IntegerAt(record, "status"));
    step.location = redfish::TextAt(record, "location");
  } else if (kind == "unsent") {
    step.is_unsent = true;
    step.sent = std::max<std::int64_t>(0, step.sent - 1);
  } else if (kind == "done") {
    step.is_done = true;
    const Json made = record.value("made", Json::object());
    for (const auto& [twin, host] : made.items()) {
      if (host.is_string()) last_->made[twin] = host.get<std::string>();
    }
  }
}

}  // namespace shoal::operate
