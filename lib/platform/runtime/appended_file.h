// SPDX-License-Identifier: Apache-2.0
// A file of lines to which whole pieces are appended: what could only be written in part, as on a
// full disk, is cut off again, so that the next piece begins where a line does.
//
// Only one object may append to a file. Not thread-safe. Errors: INTERNAL naming the path and the
// system's reason, and RESOURCE_EXHAUSTED where that is a full disk, after which one may try again.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::runtime {

class AppendedFile {
 public:
  // Opens `path`, or makes it. A last line without its newline was torn by a crash and is cut off.
  static absl::StatusOr<std::unique_ptr<AppendedFile>> Open(const std::string& path);
  ~AppendedFile();
  AppendedFile(const AppendedFile&) = delete;
  AppendedFile& operator=(const AppendedFile&) = delete;

  // Appends `lines`, each with its newline: all of them, or after an error none. REQUIRES: `lines`
  // is empty or ends with a newline.
  absl::Status Append(std::string_view lines);
  // Does so, and returns once they are on disk.
  absl::Status AppendSynced(std::string_view lines);

 private:
  AppendedFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

  // Finds where the last whole line ends.
  absl::Status FindEnd();
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
