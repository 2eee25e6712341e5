// SPDX-License-Identifier: Apache-2.0
// A whole file as read-only memory.
//
// Where its bytes are does not change when it is moved. A file that is cut while it is mapped ends
// the process that reads past the cut, as the system has it; a file that is replaced stays what it
// was. Thread-safe but for moving.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "platform/runtime/status.h"

namespace shoal::runtime {

class MappedFile {
 public:
  // NOT_FOUND; INVALID_ARGUMENT for what is no plain file; INTERNAL with the system's reason. All
  // name `path`.
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  // Begins at a page.
  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace shoal::runtime
