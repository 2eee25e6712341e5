// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/appended_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "platform/runtime/check.h"
#include "platform/runtime/file_failure.h"

namespace shoal::runtime {

absl::StatusOr<std::unique_ptr<AppendedFile>> AppendedFile::Open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  const int error = errno;
  if (fd < 0) return FileFailure(error, "cannot open " + path);
  std::unique_ptr<AppendedFile> file(new AppendedFile(path, fd));
  SHOAL_RETURN_IF_ERROR(file->FindEnd());
  SHOAL_RETURN_IF_ERROR(file->Cut());
  return file;
}

AppendedFile::~AppendedFile() { ::close(fd_); }

absl::Status AppendedFile::FindEnd() {
  constexpr off_t kBlockBytes = 1 << 16;
  struct stat info {};
  if (::fstat(fd_, &info) != 0) return Failure("cannot stat");
  is_torn_ = info.st_size > 0;
  std::string block(kBlockBytes, '\0');
  for (off_t last = info.st_size; last > 0;) {
    const off_t first = std::max<off_t>(0, last - kBlockBytes);
    const ssize_t count = ::pread(fd_, block.data(), static_cast<std::size_t>(last - first), first);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Failure("cannot read");
    const std::size_t newline =
        std::string_view(block.data(), static_cast<std::size_t>(count)).rfind('\n');
    if (newline != std::string_view::npos) {
      end_ = first + static_cast<off_t>(newline) + 1;
      is_torn_ = end_ != info.st_size;
      return absl::OkStatus();
    }
    last = first;
  }
  return absl::OkStatus();
}

absl::Status AppendedFile::Append(std::string_view lines) {
  SHOAL_CHECK(lines.empty() || lines.back() == '\n');
  SHOAL_RETURN_IF_ERROR(Cut());
  is_torn_ = true;
  if (absl::Status written = Write(lines); !written.ok()) {
    Cut().IgnoreError();
    return written;
  }
  is_torn_ = false;
  end_ += static_cast<off_t>(lines.size());
  return absl::OkStatus();
}

absl::Status AppendedFile::AppendSynced(std::string_view lines) {
  SHOAL_RETURN_IF_ERROR(Append(lines));
  if (::fdatasync(fd_) == 0) return absl::OkStatus();
  absl::Status failure = Failure("cannot sync");
  end_ -= static_cast<off_t>(lines.size());
  is_torn_ = true;
  Cut().IgnoreError();
  return failure;
}

absl::Status AppendedFile::Write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Failure("cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status AppendedFile::Cut() {
  if (!is_torn_) return absl::OkStatus();
  if (::ftruncate(fd_, end_) != 0) return Failure("cannot cut");
  is_torn_ = false;
  return absl::OkStatus();
}

absl::Status AppendedFile::Failure(const char* action) const {
  const int error = errno;
  return FileFailure(error, std::string(action) + " " + path_);
}

}  // namespace shoal::runtime
