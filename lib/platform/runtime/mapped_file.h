// SPDX-License-Identifier: Apache-2.0
// A whole file as read-only memory.
//
// The address of the bytes stays the same when the object is moved. If the file is truncated while
// it is mapped, a read past its new end kills the process (SIGBUS). If the file is replaced, the
// mapping keeps the old content. Thread-safe except for moving.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "platform/runtime/status.h"

namespace shoal::runtime {

class MappedFile {
 public:
  // Maps the file `path`. NOT_FOUND when it is missing, INVALID_ARGUMENT when it is not a regular
  // file, INTERNAL with the system's reason; all messages name `path`.
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  // The bytes, which begin at a page boundary.
  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace shoal::runtime
