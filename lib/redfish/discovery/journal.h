// SPDX-License-Identifier: Apache-2.0
// The append-only record of a crawl, from which an interrupted crawl continues.
//
// Each line is a record: 16 hexadecimal digits of the SHA-256 of the rest, a blank, JSON. The first
// line is the header, which says what is crawled and how. Opening reads up to the first incomplete
// or damaged line and truncates the file there: only the last write of a process that died can be
// so. Each record is written to the file at once; the file is synced every `kSyncEvery` records and
// by Sync. Not thread-safe. A lock on the file keeps it to one process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "platform/runtime/appended_file.h"
#include "platform/runtime/status.h"

namespace shoal::discovery {

class Journal {
 public:
  struct Position {
    std::uint64_t offset = 0;
    std::size_t size = 0;
  };
  using Reader = std::function<absl::Status(const nlohmann::json& record, Position position)>;

  static constexpr std::size_t kSyncEvery = 64;

  // Opens the journal at `path`, making it and its folder when they are missing.
  // FAILED_PRECONDITION when the journal there has another `header` (the message says how it
  // differs) or another process has it open. `fresh` empties it first, once its lock is held. Like
  // every call here, it may fail with INTERNAL or RESOURCE_EXHAUSTED, naming the path.
  static absl::StatusOr<std::unique_ptr<Journal>> Open(const std::string& path,
                                                       const nlohmann::json& header,
                                                       bool fresh = false);

  absl::Status Append(const nlohmann::json& record);
  absl::Status Sync();

  // Visits every whole record in order; stops at the reader's first error.
  absl::Status ForEach(const Reader& reader) const;
  absl::StatusOr<nlohmann::json> Read(Position position) const;

  // The number of records without the header.
  std::size_t size() const { return size_; }

 private:
  Journal(std::string path, std::unique_ptr<runtime::AppendedFile> file)
      : path_(std::move(path)), file_(std::move(file)) {}
  absl::Status Start(const nlohmann::json& header);
  // Visits whole lines from the start; returns where the last one ends.
  absl::StatusOr<std::uint64_t> Scan(const Reader& reader) const;

  const std::string path_;
  const std::unique_ptr<runtime::AppendedFile> file_;
  std::size_t size_ = 0;
  std::size_t unsynced_ = 0;
};

}  // namespace shoal::discovery
