// SPDX-License-Identifier: Apache-2.0
// A lock among processes and threads: flock on a file of its own, held while this lives.
//
// The file is made where there is none, and stays. Never waits. UNAVAILABLE: somebody holds it so
// that it cannot be had; FAILED_PRECONDITION: it cannot be made or locked. Both name the file.
#pragma once

#include <string>

#include "platform/runtime/status.h"

namespace shoal::embedding {

class FileLock {
 public:
  static absl::StatusOr<FileLock> TryShared(const std::string& path);
  static absl::StatusOr<FileLock> TryExclusive(const std::string& path);
  ~FileLock();
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&&) = delete;

 private:
  static absl::StatusOr<FileLock> Try(const std::string& path, int operation);
  explicit FileLock(int descriptor) : descriptor_(descriptor) {}

  // -1 once moved from.
  int descriptor_;
};

}  // namespace shoal::embedding
