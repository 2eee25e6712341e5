// SPDX-License-Identifier: Apache-2.0
#include "dataset/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace shoal::dataset {
namespace {

absl::Status CannotMap(const std::string& path) {
  const int error = errno;
  const std::string message = "cannot map " + path + ": " + std::strerror(error);
  return error == ENOENT ? runtime::NotFound(message) : runtime::DataLoss(message);
}

}  // namespace

absl::StatusOr<MappedFile> MappedFile::Open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return CannotMap(path);
  struct stat info {};
  const bool known = ::fstat(fd, &info) == 0;
  if (known && info.st_size == 0) {
    ::close(fd);
    return MappedFile(nullptr, 0);
  }
  const auto size = static_cast<std::size_t>(info.st_size);
  void* const data = known ? ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
  absl::Status failed = data == MAP_FAILED ? CannotMap(path) : absl::OkStatus();
  ::close(fd);
  if (!failed.ok()) return failed;
  return MappedFile(data, size);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace shoal::dataset
