// SPDX-License-Identifier: Apache-2.0
// A file of lines to which whole pieces are appended: what could only be written in part, as on a
// full disk, is cut off again, so that the next piece begins where a line does.
//
// Only one object may append to a file. Not thread-safe. Errors: INTERNAL naming the path and the
// system's reason, and RESOURCE_EXHAUSTED where that is a full disk, after which one may try again.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "platform/runtime/status.h"

namespace shoal::runtime {

class AppendedFile {
 public:
  // Opens `path`, or makes it. A last line without its newline was torn by a crash and is cut off.
  static absl::StatusOr<std::unique_ptr<AppendedFile>> Open(const std::string& path);
  // Does so for this process alone: FAILED_PRECONDITION while another has it open so. Makes its
  // folder, too, and a new file with the permissions `mode`.
  static absl::StatusOr<std::unique_ptr<AppendedFile>> OpenAlone(const std::string& path,
                                                                 mode_t mode);
  ~AppendedFile();
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;

  // Appends `lines`, each with its newline: all of them, or after an error none. REQUIRES: `lines`
  // is empty or ends with a newline.
  absl::Status Append(std::string_view lines);
  // Does so, and returns once they are on disk.
  absl::Status AppendSynced(std::string_view lines);
  // Returns once everything that was appended is on disk.
  absl::Status Sync();

  // Cuts off everything behind the first `size` bytes. REQUIRES: a line ends there, or `size` is 0.
  absl::Status CutTo(std::uint64_t size);

  // Reads from `offset` on, and returns how many bytes of `buffer` it filled: none at the end.
  absl::StatusOr<std::size_t> Read(std::uint64_t offset, std::span<char> buffer) const;
  // The size of all whole lines.
  std::uint64_t size() const { return static_cast<std::uint64_t>(end_); }

 private:
  AppendedFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  static absl::StatusOr<std::unique_ptr<AppendedFile>> Make(const std::string& path, mode_t mode);
  // Finds where the last whole line ends, and cuts off what is behind it.
  absl::Status CutTornLine();
  absl::Status Write(std::string_view bytes) const;
  // Cuts off what is behind the end.
  absl::Status Cut();
  absl::Status Failure(const char* action) const;

  const std::string path_;
  const int fd_;
  // The end of the last whole piece, and whether there may be more behind it.
  off_t end_ = 0;
  bool is_torn_ = false;
};

}  // namespace shoal::runtime
