// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/appended_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "platform/runtime/check.h"
#include "platform/runtime/file_failure.h"

namespace shoal::runtime {

absl::StatusOr<std::unique_ptr<AppendedFile>> AppendedFile::Open(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(auto file, Make(path, 0644));
  SHOAL_RETURN_IF_ERROR(file->CutTornLine());
  return file;
}

absl::StatusOr<std::unique_ptr<AppendedFile>> AppendedFile::OpenAlone(const std::string& path,
                                                                      mode_t mode) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (error) return FileFailure(error.value(), "cannot make folder " + folder.string());
  SHOAL_ASSIGN_OR_RETURN(auto file, Make(path, mode));
  // What another process is writing is not torn.
  if (::flock(file->fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return FileFailure(errno, "cannot lock " + path);
    return FailedPrecondition(path + " is in use by another process");
  }
  SHOAL_RETURN_IF_ERROR(file->CutTornLine());
  return file;
}

absl::StatusOr<std::unique_ptr<AppendedFile>> AppendedFile::Make(const std::string& path,
                                                                 mode_t mode) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, mode);
  const int error = errno;
  if (fd < 0) return FileFailure(error, "cannot open " + path);
  return std::unique_ptr<AppendedFile>(new AppendedFile(path, fd));
}

AppendedFile::~AppendedFile() { ::close(fd_); }

absl::Status AppendedFile::CutTornLine() {
  constexpr off_t kBlockBytes = 1 << 16;
  struct stat info {};
  if (::fstat(fd_, &info) != 0) return Failure("cannot stat");
  is_torn_ = info.st_size > 0;
  std::string block(kBlockBytes, '\0');
  for (off_t last = info.st_size; last > 0;) {
    const off_t first = std::max<off_t>(0, last - kBlockBytes);
    SHOAL_ASSIGN_OR_RETURN(const std::size_t count,
                           Read(static_cast<std::uint64_t>(first),
                                std::span(block.data(), static_cast<std::size_t>(last - first))));
    const std::size_t newline = std::string_view(block.data(), count).rfind('\n');
    if (newline != std::string_view::npos) {
      end_ = first + static_cast<off_t>(newline) + 1;
      is_torn_ = end_ != info.st_size;
      break;
    }
    last = first;
  }
  return Cut();
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
  absl::Status synced = Sync();
  if (synced.ok()) return synced;
  end_ -= static_cast<off_t>(lines.size());
  is_torn_ = true;
  Cut().IgnoreError();
  return synced;
}

absl::Status AppendedFile::Sync() {
  return ::fdatasync(fd_) == 0 ? absl::OkStatus() : Failure("cannot sync");
}

absl::Status AppendedFile::CutTo(std::uint64_t size) {
  SHOAL_CHECK(size <= this->size());
  is_torn_ = is_torn_ || size < this->size();
  end_ = static_cast<off_t>(size);
  return Cut();
}

absl::StatusOr<std::size_t> AppendedFile::Read(std::uint64_t offset, std::span<char> buffer) const {
  for (;;) {
    const ssize_t count = ::pread(fd_, buffer.data(), buffer.size(), static_cast<off_t>(offset));
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) return Failure("cannot read");
  }
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
