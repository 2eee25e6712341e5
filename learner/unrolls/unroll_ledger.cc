// SPDX-License-Identifier: Apache-2.0
#include "learner/unrolls/unroll_ledger.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/file_failure.h"

namespace shoal::learner {
namespace {

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
  if (error) return runtime::FileFailure(error.value(), "cannot make folder " + options.folder);
  // Others may be appending to theirs.
  SHOAL_ASSIGN_OR_RETURN(ledger->file_, runtime::AppendedFile::Open(options.folder + "/" +
                                                                    LedgerFileName(options.rank)));
  const std::vector<std::string> logs = LogsIn(options.folder, error);
  if (error) return runtime::FileFailure(error.value(), "cannot list " + options.folder);
  for (const std::string& path : logs) SHOAL_RETURN_IF_ERROR(ledger->Load(path));
  return ledger;
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
  for (const UnrollUse& key : keys) {
    unwritten_ += std::to_string(key.id.environment_id) + ' ' + std::to_string(key.id.incarnation) +
                  ' ' + std::to_string(key.id.first_sequence) + ' ' + std::to_string(epoch) + ' ' +
                  std::to_string(update) + ' ' + std::to_string(key.use) + '\n';
  }
  unwritten_lines_ += keys.size();
  const absl::Status written = file_->AppendSynced(unwritten_);
  if (!written.ok() && !absl::IsResourceExhausted(written)) return written;
  for (const UnrollUse& key : keys) Add(key);
  if (written.ok()) {
    unwritten_.clear();
    unwritten_lines_ = 0;
    return written;
  }
  std::size_t forgotten = 0;
  for (; unwritten_lines_ > window_; --unwritten_lines_) {
    forgotten = unwritten_.find('\n', forgotten) + 1;
  }
  unwritten_.erase(0, forgotten);
  return written;
}

}  // namespace shoal::learner
