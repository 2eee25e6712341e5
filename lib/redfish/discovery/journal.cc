// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "platform/content/content_key.h"
#include "platform/runtime/file_failure.h"

namespace shoal::discovery {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMark = 16;

std::string MarkOf(std::string_view text) { return content::Sha256Hex(text).substr(0, kMark); }

absl::Status Failed(const std::string& action, const std::string& path) {
  const int error = errno;
  return runtime::FileFailure(error, action + " " + path);
}

std::optional<Json> ParseLine(std::string_view line) {
  if (line.size() < kMark + 2 || line[kMark] != ' ') return std::nullopt;
  const std::string_view text = line.substr(kMark + 1);
  if (line.substr(0, kMark) != MarkOf(text)) return std::nullopt;
  Json record = Json::parse(text, nullptr, false);
  if (!record.is_object()) return std::nullopt;
  return record;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Journal>> Journal::Open(const std::string& path, const Json& header,
                                                       bool fresh) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) {
    return runtime::FileFailure(error.value(), "cannot make folder " + folder.string());
  }
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return Failed("cannot open", path);
  std::unique_ptr<Journal> journal(new Journal(path, fd));
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    return runtime::FailedPrecondition(path + " is in use by another process");
  }
  if (fresh && ::ftruncate(fd, 0) != 0) return Failed("cannot empty", path);
  SHOAL_RETURN_IF_ERROR(journal->Start(header));
  return journal;
}

Journal::~Journal() { ::close(fd_); }

absl::Status Journal::Start(const Json& header) {
  std::optional<Json> before;
  SHOAL_ASSIGN_OR_RETURN(end_, Scan([&](const Json& record, Position) {
                           if (before) ++size_;
                           if (!before) before = record;
                           return absl::OkStatus();
                         }));
  if (::ftruncate(fd_, static_cast<off_t>(end_)) != 0) return Failed("cannot cut", path_);
  if (!before) {
    SHOAL_RETURN_IF_ERROR(Append(header));
    size_ = 0;
    return Sync();
  }
  if (*before == header) return absl::OkStatus();
  return runtime::FailedPrecondition(path_ + " is of another crawl: " + before->dump() +
                                     " there, " + header.dump() + " now");
}

absl::Status Journal::Append(const Json& record) {
  const std::string text = record.dump(-1, ' ', false, Json::error_handler_t::replace);
  const std::string line = MarkOf(text) + " " + text + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(fd_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failed("cannot write", path_);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  end_ += line.size();
  ++size_;
  return ++unsynced_ >= kSyncEvery ? Sync() : absl::OkStatus();
}

absl::Status Journal::Sync() {
  unsynced_ = 0;
  return ::fdatasync(fd_) == 0 ? absl::OkStatus() : Failed("cannot sync", path_);
}

absl::StatusOr<std::uint64_t> Journal::Scan(const Reader& reader) const {
  std::string buffer;
  std::string chunk(std::size_t{1} << 20, '\0');
  std::uint64_t line_start = 0;
  for (std::uint64_t offset = 0;;) {
    const ssize_t count = ::pread(fd_, chunk.data(), chunk.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failed("cannot read", path_);
    if (count == 0) return line_start;
    offset += static_cast<std::uint64_t>(count);
    std::size_t begin = 0;
    std::size_t searched = buffer.size();
    buffer.append(chunk, 0, static_cast<std::size_t>(count));
    for (;;) {
      const std::size_t end = buffer.find('\n', std::max(begin, searched));
      if (end == std::string::npos) break;
      const std::string_view line = std::string_view(buffer).substr(begin, end - begin);
      const std::optional<Json> record = ParseLine(line);
      if (!record) return line_start;
      SHOAL_RETURN_IF_ERROR(reader(*record, {line_start, line.size()}));
      line_start += line.size() + 1;
      begin = end + 1;
    }
    buffer.erase(0, begin);
  }
}

absl::Status Journal::ForEach(const Reader& reader) const {
  bool is_header = true;
  return Scan([&](const Json& record, Position position) {
           return std::exchange(is_header, false) ? absl::OkStatus() : reader(record, position);
         })
      .status();
}

absl::StatusOr<Json> Journal::Read(Position position) const {
  std::string line(position.size, '\0');
  std::size_t have = 0;
  while (have < line.size()) {
    const ssize_t count = ::pread(fd_, line.data() + have, line.size() - have,
                                  static_cast<off_t>(position.offset + have));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Failed("cannot read", path_);
    have += static_cast<std::size_t>(count);
  }
  std::optional<Json> record = ParseLine(line);
  if (!record) return runtime::DataLoss(path_ + " changed while it was read");
  return *std::move(record);
}

}  // namespace shoal::discovery
