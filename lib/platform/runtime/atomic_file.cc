// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "platform/runtime/file_failure.h"

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
  const absl::Status failure = FileFailure(error, action + " " + path);
  return error == ENOENT ? NotFound(Message(failure)) : failure;
}

// Files of this size and more bypass the page cache, whose memory has to be found and filled first,
// in blocks that any disk's sectors divide.
constexpr std::size_t kLargeBytes = std::size_t{8} << 20;
constexpr std::size_t kBlockBytes = std::size_t{4} << 20;
constexpr std::size_t kBlockAlignment = 4096;

struct Free {
  void operator()(char* block) const { std::free(block); }
};
using Block = std::unique_ptr<char, Free>;

// Returns null where there is no memory.
Block NewBlock() {
  return Block(static_cast<char*>(std::aligned_alloc(kBlockAlignment, kBlockBytes)));
}

// Returns false where the file system does not have it.
bool SetDirect(int fd, bool direct) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return false;
  return ::fcntl(fd, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT) == 0;
}

// Whether a call that failed is worth another try, now through the page cache.
bool FallsBack(int fd) {
  return errno == EINVAL && (::fcntl(fd, F_GETFL) & O_DIRECT) != 0 && SetDirect(fd, false);
}

absl::Status TooLarge(const std::string& path, std::size_t max_bytes) {
  return ResourceExhausted(path + " is larger than " + std::to_string(max_bytes) + " bytes");
}

absl::Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && (errno == EINTR || FallsBack(fd))) continue;
    if (written < 0) return SystemError("cannot write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status WriteLarge(int fd, std::span<const std::string_view> pieces, const Block& block,
                        const std::string& path) {
  std::size_t filled = 0;
  for (std::string_view piece : pieces) {
    while (!piece.empty()) {
      const std::size_t count = std::min(piece.size(), kBlockBytes - filled);
      std::memcpy(block.get() + filled, piece.data(), count);
      piece.remove_prefix(count);
      filled += count;
      if (filled < kBlockBytes) continue;
      SHOAL_RETURN_IF_ERROR(WriteAll(fd, std::string_view(block.get(), filled), path));
      filled = 0;
    }
  }
  SetDirect(fd, false);
  return WriteAll(fd, std::string_view(block.get(), filled), path);
}

absl::Status WriteAll(int fd, std::span<const std::string_view> pieces, const std::string& path) {
  std::size_t size = 0;
  for (const std::string_view piece : pieces) size += piece.size();
  const Block block = size >= kLargeBytes ? NewBlock() : nullptr;
  if (block != nullptr && SetDirect(fd, true)) {
    SHOAL_RETURN_IF_ERROR(WriteLarge(fd, pieces, block, path));
  } else {
    for (const std::string_view piece : pieces) SHOAL_RETURN_IF_ERROR(WriteAll(fd, piece, path));
  }
  if (::fsync(fd) != 0) return SystemError("cannot sync", path);
  return absl::OkStatus();
}

absl::Status SyncFolder(const std::string& folder) {
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0) return SystemError("cannot open folder", folder);
  if (::fsync(descriptor.get()) != 0) return SystemError("cannot sync folder", folder);
  return absl::OkStatus();
}

absl::StatusOr<std::string> MakeFolderOf(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  std::string folder = parent.empty() ? "." : parent;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return FileFailure(error.value(), "cannot make folder " + folder);
  return folder;
}

}  // namespace

absl::Status CheckWritable(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string folder, MakeFolderOf(path));
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return InvalidArgument(path + " is a folder");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return SystemError("cannot write to", folder);
  return absl::OkStatus();
}

absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes, mode_t mode) {
  return WriteFileAtomically(path, std::span(&bytes, 1), mode);
}

absl::Status WriteFileAtomically(const std::string& path, std::span<const std::string_view> pieces,
                                 mode_t mode) {
  SHOAL_ASSIGN_OR_RETURN(const std::string folder, MakeFolderOf(path));
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

  const auto size = S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0;
  if (size > max_bytes) return TooLarge(path, max_bytes);
  const Block block = size >= kLargeBytes ? NewBlock() : nullptr;
  if (block != nullptr) SetDirect(descriptor.get(), true);
  std::string small(block != nullptr ? 0 : std::size_t{1} << 18, '\0');
  char* const buffer = block != nullptr ? block.get() : small.data();
  const std::size_t room = block != nullptr ? kBlockBytes : small.size();
  std::string bytes;
  bytes.reserve(size);
  for (;;) {
    const ssize_t count = ::read(descriptor.get(), buffer, room);
    if (count < 0 && (errno == EINTR || FallsBack(descriptor.get()))) continue;
    if (count < 0) return SystemError("cannot read", path);
    if (count == 0) return bytes;
    // It may have grown, or be of a kind that tells no size.
    if (bytes.size() + static_cast<std::size_t>(count) > max_bytes) {
      return TooLarge(path, max_bytes);
    }
    bytes.append(buffer, static_cast<std::size_t>(count));
  }
}

absl::StatusOr<SharedBytes> ReadSharedFile(const std::string& path, std::size_t max_bytes,
                                           const std::function<void(const SharedBytes&)>& arrived) {
  // O_NONBLOCK keeps open from waiting for the other end of a pipe.
  const Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (descriptor.get() < 0) return SystemError("cannot open", path);
  struct stat info {};
  if (::fstat(descriptor.get(), &info) != 0) return SystemError("cannot stat", path);
  if (!S_ISREG(info.st_mode)) return InvalidArgument(path + " is no plain file");
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size > max_bytes) return TooLarge(path, max_bytes);
  // Without memory the process ends, as elsewhere: a status could be taken for a damaged file.
  const std::shared_ptr<char> memory = NewLargeMemory(size);
  if (size >= kLargeBytes) SetDirect(descriptor.get(), true);
  const std::size_t room = (size + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t count =
        ::read(descriptor.get(), memory.get() + filled, std::min(kBlockBytes, room - filled));
    if (count < 0 && (errno == EINTR || FallsBack(descriptor.get()))) continue;
    if (count < 0) return SystemError("cannot read", path);
    if (count == 0) break;
    // What a file has grown by meanwhile is left out.
    const std::size_t taken = std::min(static_cast<std::size_t>(count), size - filled);
    arrived({std::string_view(memory.get() + filled, taken), memory});
    filled += taken;
  }
  return SharedBytes{std::string_view(memory.get(), filled), memory};
}

absl::StatusOr<std::string> ReadSecret(const std::string& path) {
  constexpr std::size_t kMaximumBytes = 1 << 16;
  SHOAL_ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMaximumBytes));
  std::string line = text.substr(0, text.find_first_of("\r\n"));
  if (line.empty()) return FailedPrecondition(path + " begins with no secret");
  return line;
}

}  // namespace shoal::runtime
