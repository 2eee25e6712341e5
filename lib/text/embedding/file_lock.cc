// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace shoal::embedding {

absl::StatusOr<FileLock> FileLock::TryShared(const std::string& path) { return Try(path, LOCK_SH); }

absl::StatusOr<FileLock> FileLock::TryExclusive(const std::string& path) {
  return Try(path, LOCK_EX);
}

absl::StatusOr<FileLock> FileLock::Try(const std::string& path, int operation) {
  FileLock lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (lock.descriptor_ >= 0 && ::flock(lock.descriptor_, operation | LOCK_NB) == 0) return lock;
  if (errno == EWOULDBLOCK) return runtime::Unavailable(path + " is held by another");
  return runtime::FailedPrecondition(path + ": " + std::generic_category().message(errno));
}

FileLock::FileLock(FileLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace shoal::embedding
