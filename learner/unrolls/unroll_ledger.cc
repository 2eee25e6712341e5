// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/unroll_ledger.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "platform/runtime/atomic_file.h"

namespace shoal::learner {
namespace {

absl::Status SystemError(std::string_view what, const std::string& path) {
  return runtime::Internal(std::string(what) + " " + path + ": " + std::strerror(errno));
}

std::optional<UnrollUse> ParseLine(std::string_view line) {
  std::array<std::uint64_t, 6> numbers{};
  numbers.back() = 1;
  const char* position = line.data();
  const char* const end = line.data() + line.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [rest, error] = std::from_chars(position, end, numbers[i]);
    if (error != std::errc()) return std::nullopt;
    position = rest;
    if (position == end) {
      if (i + 2 < numbers.size()) return std::nullopt;
      break;
    }
    if (*position++ != ' ' || i + 1 == numbers.size()) return std::nullopt;
  }
  if (numbers.back() < 1 || numbers.back() > std::numeric_limits<std::uint32_t>::max()) {
    return std::nullopt;
  }
  return UnrollUse{.id = {numbers[0], numbers[1], numbers[2]},
                   .use = static_cast<std::uint32_t>(numbers.back())};
}

// Cuts only this rank's log, since other ranks may be appending to theirs.
absl::Status CutTornLine(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string bytes, runtime::ReadFile(path));
  const std::size_t newline = bytes.rfind('\n');
  const std::size_t whole = newline == std::string::npos ? 0 : newline + 1;
  if (whole == bytes.size()) return absl::OkStatus();
  if (truncate(path.c_str(), static_cast<off_t>(whole)) != 0) return SystemError("truncate", path);
  return absl::OkStatus();
}

absl::Status WriteAll(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  if (fdatasync(file) != 0) return SystemError("sync", path);
  return absl::OkStatus();
}

std::vector<std::string> LogsIn(const std::string& folder, std::error_code& error) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("unrolls.") && name.ends_with("log")) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

std::string LedgerFileName(int rank) {
  return rank == 0 ? "unrolls.log" : "unrolls." + std::to_string(rank) + ".log";
}

absl::StatusOr<std::unique_ptr<UnrollLedger>> UnrollLedger::Create(
    const UnrollLedgerOptions& options) {
  auto ledger =
      std::unique_ptr<UnrollLedger>(new UnrollLedger(std::max<std::size_t>(options.window, 1)));
  std::error_code error;
  std::filesystem::create_directories(options.folder, error);
  if (error) return runtime::Internal("make " + options.folder + ": " + error.message());
  const std::string own = options.folder + "/" + LedgerFileName(options.rank);
  if (std::filesystem::exists(own, error)) SHOAL_RETURN_IF_ERROR(CutTornLine(own));
  const std::vector<std::string> logs = LogsIn(options.folder, error);
  if (error) return runtime::Internal("list " + options.folder + ": " + error.message());
  for (const std::string& path : logs) SHOAL_RETURN_IF_ERROR(ledger->Load(path));
  SHOAL_RETURN_IF_ERROR(ledger->Open(own));
  return ledger;
}

UnrollLedger::~UnrollLedger() {
  if (file_ >= 0) close(file_);
}

absl::Status UnrollLedger::Load(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string bytes, runtime::ReadFile(path));
  std::string_view rest = bytes;
  for (std::size_t number = 1;; ++number) {
    const std::size_t newline = rest.find('\n');
    if (newline == std::string_view::npos) return absl::OkStatus();
    const auto key = ParseLine(rest.substr(0, newline));
    if (!key) {
      return runtime::DataLoss(
          path + " line " + std::to_string(number) + ": expected five or six numbers, got \"" +
          std::string(rest.substr(0, std::min<std::size_t>(newline, 80))) + "\"");
    }
    Add(*key);
    rest.remove_prefix(newline + 1);
  }
}

absl::Status UnrollLedger::Open(const std::string& path) {
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  return file_ < 0 ? SystemError("open", path) : absl::OkStatus();
}

void UnrollLedger::Add(const UnrollUse& key) {
  if (!keys_.insert(key).second) return;
  order_.push_back(key);
  if (order_.size() <= window_) return;
  keys_.erase(order_.front());
  order_.pop_front();
}

std::vector<UnrollUse> UnrollLedger::Newest(std::size_t count) const {
  const auto some = static_cast<std::ptrdiff_t>(std::min(count, order_.size()));
  return {order_.end() - some, order_.end()};
}

absl::Status UnrollLedger::Append(std::uint64_t epoch, std::uint64_t update,
                                  std::span<const UnrollUse> keys) {
  std::string lines;
  for (const UnrollUse& key : keys) {
    lines += std::to_string(key.id.environment_id) + ' ' + std::to_string(key.id.incarnation) +
             ' ' + std::to_string(key.id.first_sequence) + ' ' + std::to_string(epoch) + ' ' +
             std::to_string(update) + ' ' + std::to_string(key.use) + '\n';
  }
  SHOAL_RETURN_IF_ERROR(WriteAll(file_, lines, "the log of unroll ids"));
  for (const UnrollUse& key : keys) Add(key);
  return absl::OkStatus();
}

}  // namespace shoal::learner
