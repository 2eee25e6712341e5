// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace shoal::runtime {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

absl::Status SystemError(const std::string& action, const std::string& path) {
  const int error = errno;
  const std::string message = action + " " + path + ": " + std::strerror(error);
  if (error == ENOENT) return NotFound(message);
  if (error == ENOSPC || error == EDQUOT) return ResourceExhausted(message);
  return Internal(message);
}

absl::Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError("cannot write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status WriteAll(int fd, std::span<const std::string_view> pieces, const std::string& path) {
  for (const std::string_view piece : pieces) SHOAL_RETURN_IF_ERROR(WriteAll(fd, piece, path));
  if (::fsync(fd) != 0) return SystemError("cannot sync", path);
  return absl::OkStatus();
}

absl::Status SyncFolder(const std::string& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0) return SystemError("cannot open folder", folder);
  if (::fsync(descriptor.get()) != 0) return SystemError("cannot sync folder", folder);
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes, mode_t mode) {
  return WriteFileAtomically(path, std::span(&bytes, 1), mode);
}

absl::Status WriteFileAtomically(const std::string& path, std::span<const std::string_view> pieces,
                                 mode_t mode) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const std::string folder = parent.empty() ? "." : parent;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Internal("cannot make folder " + folder + ": " + error.message());

  const std::string temporary = path + ".tmp-" + std::to_string(::getpid());
  {
    const Descriptor descriptor(
        ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
    if (descriptor.get() < 0) return SystemError("cannot create", temporary);
    const absl::Status written = WriteAll(descriptor.get(), pieces, temporary);
    if (!written.ok()) {
      ::unlink(temporary.c_str());
      return written;
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) return SystemError("cannot rename to", path);
  return SyncFolder(folder);
}

absl::StatusOr<std::string> ReadFile(const std::string& path, std::size_t max_bytes) {
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.get() < 0) return SystemError("cannot open", path);
  struct stat info {};
  if (::fstat(descriptor.get(), &info) != 0) return SystemError("cannot stat", path);
  if (S_ISDIR(info.st_mode)) return InvalidArgument(path + " is a folder");

  std::string bytes;
  std::string buffer(std::size_t{1} << 18, '\0');
  for (;;) {
    const ssize_t count = ::read(descriptor.get(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return SystemError("cannot read", path);
    if (count == 0) return bytes;
    if (bytes.size() + static_cast<std::size_t>(count) > max_bytes) {
      return ResourceExhausted(path + " is larger than " + std::to_string(max_bytes) + " bytes");
    }
    bytes.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

absl::StatusOr<std::string> ReadSecret(const std::string& path) {
  constexpr std::size_t kMaximumBytes = 1 << 16;
  SHOAL_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaximumBytes));
  std::string line = text.substr(0, text.find_first_of("\r\n"));
  if (line.empty()) return FailedPrecondition(path + " begins with no secret");
  return line;
}

}  // namespace shoal::runtime
