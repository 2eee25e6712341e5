// SPDX-License-Identifier: Apache-2.0
// The append-only record of a crawl: what a crawl that was killed has already been told.
//
// A line a record: 16 hexadecimal digits of the SHA-256 of the rest, a blank, JSON. The first line
// says what is crawled and how. Opening reads until the first line that is cut or damaged and cuts
// the file there: only the last write of a process that died can be so. Records are handed to the
// system as they come and synced every `kSyncEvery` of them and by Sync. Not thread-safe; one
// process a journal, kept by a lock on the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

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
  // differs) or another process has it open. `fresh` empties it, once it is known to be nobody
  // else's. INTERNAL, RESOURCE_EXHAUSTED naming the path, as of
  // every call here.
  static absl::StatusOr<std::unique_ptr<Journal>> Open(const std::string& path,
                                                       const nlohmann::json& header,
                                                       bool fresh = false);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  absl::Status Append(const nlohmann::json& record);
  absl::Status Sync();

  // Every whole record in order; stops at the reader's first error.
  absl::Status ForEach(const Reader& reader) const;
  absl::StatusOr<nlohmann::json> Read(Position position) const;

  // Records, the header not counted.
  std::size_t size() const { return size_; }

 private:
  Journal(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  absl::Status Start(const nlohmann::json& header);
  // Visits whole lines from the start; returns where the last one ends.
  absl::StatusOr<std::uint64_t> Scan(const Reader& reader) const;

  const std::string path_;
  const int fd_;
  std::uint64_t end_ = 0;
  std::size_t size_ = 0;
  std::size_t unsynced_ = 0;
};

}  // namespace shoal::discovery
