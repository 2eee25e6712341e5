// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace shoal::runtime {
namespace {

absl::Status CannotMap(const std::string& path) {
  const int error = errno;
  const std::string message = "cannot map " + path + ": " + std::strerror(error);
  return error == ENOENT ? NotFound(message) : Internal(message);
}

}  // namespace

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  // O_NONBLOCK keeps open from waiting for the other end of a pipe.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return CannotMap(path);
  struct stat info {};
  MappedFile file;
  absl::Status status;
  if (::fstat(descriptor, &info) != 0) {
    status = CannotMap(path);
  } else if (!S_ISREG(info.st_mode)) {
    status = InvalidArgument(path + " is no plain file");
  } else if (info.st_size > 0) {
    const auto size = static_cast<std::size_t>(info.st_size);
    void* const data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (data == MAP_FAILED) {
      status = CannotMap(path);
    } else {
      file.data_ = data;
      file.size_ = size;
    }
  }
  ::close(descriptor);
  if (!status.ok()) return status;
  return file;
}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace shoal::runtime
