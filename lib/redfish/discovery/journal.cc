// SPDX-License-Identifier: Apache-2.0
#include "redfish/discovery/journal.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "platform/content/content_key.h"

namespace shoal::discovery {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMark = 16;

std::string MarkOf(std::string_view text) { return content::Sha256Hex(text).substr(0, kMark); }

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
  SHOAL_ASSIGN_OR_RETURN(auto file, runtime::AppendedFile::OpenAlone(path, 0644));
  if (fresh) SHOAL_RETURN_IF_ERROR(file->CutTo(0));
  std::unique_ptr<Journal> journal(new Journal(path, std::move(file)));
  SHOAL_RETURN_IF_ERROR(journal->Start(header));
  return journal;
}

absl::Status Journal::Start(const Json& header) {
  std::optional<Json> before;
  SHOAL_ASSIGN_OR_RETURN(const std::uint64_t end, Scan([&](const Json& record, Position) {
                           if (before) ++size_;
                           if (!before) before = record;
                           return absl::OkStatus();
                         }));
  SHOAL_RETURN_IF_ERROR(file_->CutTo(end));
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
  SHOAL_RETURN_IF_ERROR(file_->Append(MarkOf(text) + " " + text + "\n"));
  ++size_;
  return ++unsynced_ >= kSyncEvery ? Sync() : absl::OkStatus();
}

absl::Status Journal::Sync() {
  unsynced_ = 0;
  return file_->Sync();
}

absl::StatusOr<std::uint64_t> Journal::Scan(const Reader& reader) const {
  std::string buffer;
  std::string chunk(std::size_t{1} << 20, '\0');
  std::uint64_t line_start = 0;
  for (std::uint64_t offset = 0;;) {
    SHOAL_ASSIGN_OR_RETURN(const std::size_t count, file_->Read(offset, chunk));
    if (count == 0) return line_start;
    offset += count;
    std::size_t begin = 0;
    std::size_t searched = buffer.size();
    buffer.append(chunk, 0, count);
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
    SHOAL_ASSIGN_OR_RETURN(const std::size_t count,
                           file_->Read(position.offset + have, std::span(line).subspan(have)));
    if (count == 0) break;
    have += count;
  }
  std::optional<Json> record = ParseLine(line);
  if (!record) return runtime::DataLoss(path_ + " changed while it was read");
  return *std::move(record);
}

}  // namespace shoal::discovery
