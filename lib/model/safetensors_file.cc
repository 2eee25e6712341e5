// SPDX-License-Identifier: Apache-2.0
#include "model/safetensors_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/atomic_file.h"

namespace shoal::model {
namespace {

absl::Status SystemError(const std::string& action, const std::string& path) {
  const int error = errno;
  const std::string message = action + " " + path + ": " + std::strerror(error);
  return error == ENOENT ? runtime::NotFound(message) : runtime::Internal(message);
}

}  // namespace

absl::StatusOr<SafetensorsFile> SafetensorsFile::Open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return SystemError("cannot open", path);
  struct stat info {};
  SafetensorsFile file;
  file.path_ = path;
  absl::Status status;
  if (::fstat(descriptor, &info) != 0) {
    status = SystemError("cannot stat", path);
  } else if (!S_ISREG(info.st_mode)) {
    status = runtime::InvalidArgument(path + " is no plain file");
  } else if (info.st_size > 0) {
    const auto size = static_cast<std::size_t>(info.st_size);
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (address == MAP_FAILED) {
      status = SystemError("cannot map", path);
    } else {
      file.address_ = address;
      file.size_ = size;
    }
  }
  ::close(descriptor);
  SHOAL_RETURN_IF_ERROR(status);
  auto view = SafetensorsView::Parse({static_cast<const char*>(file.address_), file.size_});
  if (!view.ok()) return runtime::Annotate(view.status(), path);
  file.view_ = *std::move(view);
  return file;
}

SafetensorsFile::SafetensorsFile(SafetensorsFile&& other) noexcept { *this = std::move(other); }

SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(address_, other.address_);
  std::swap(size_, other.size_);
  std::swap(view_, other.view_);
  return *this;
}

SafetensorsFile::~SafetensorsFile() {
  if (address_ != nullptr) ::munmap(address_, size_);
}

absl::Status WriteSafetensorsFile(const std::string& path, std::span<const SafetensorsItem> items,
                                  const Metadata& metadata) {
  const std::string header = WriteSafetensorsHeader(items, metadata);
  std::vector<std::string_view> pieces = {header};
  for (const SafetensorsItem& item : items) {
    pieces.emplace_back(reinterpret_cast<const char*>(item.tensor.bytes.data()),
                        item.tensor.bytes.size());
  }
  return runtime::WriteFileAtomically(path, pieces);
}

}  // namespace shoal::model
