// SPDX-License-Identifier: Apache-2.0
#include "operate/audit_log.h"

#include <absl/strings/str_format.h>
#include <absl/time/time.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <numeric>
#include <string_view>
#include <system_error>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/file_failure.h"
#include "redfish/capture/uri.h"

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

absl::Status LogFailed(const std::string& action, const std::string& path) {
  const int error = errno;
  return runtime::FileFailure(error, action + " " + path);
}

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
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) {
    return runtime::FileFailure(error.value(), "cannot make folder " + folder.string());
  }
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return LogFailed("cannot open", path);
  std::unique_ptr<AuditLog> log(new AuditLog(path, fd, clock));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return runtime::FailedPrecondition(path + " is in use by another process");
  }
  SHOAL_RETURN_IF_ERROR(log->Read());
  return log;
}

AuditLog::~AuditLog() { ::close(fd_); }

absl::Status AuditLog::Append(Json record) {
  record["time"] = absl::FormatTime(
      absl::RFC3339_full, absl::FromUnixNanos(static_cast<std::int64_t>(clock_.UnixNanos())),
      absl::UTCTimeZone());
  if (is_torn_) {
    return runtime::FailedPrecondition(path_ + " ends with a part of a record");
  }
  const std::string line = record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  const absl::Status written = Write(line);
  if (!written.ok()) {
    is_torn_ = ::ftruncate(fd_, size_) != 0;
    return written;
  }
  size_ += static_cast<off_t>(line.size());
  Take(record);
  return absl::OkStatus();
}

absl::Status AuditLog::Write(const std::string& line) {
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return LogFailed("cannot write", path_);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return ::fdatasync(fd_) != 0 ? LogFailed("cannot sync", path_) : absl::OkStatus();
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
  if (begin < text.size() && ::ftruncate(fd_, static_cast<off_t>(begin)) != 0) {
    return LogFailed("cannot cut", path_);
  }
  size_ = static_cast<off_t>(begin);
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
