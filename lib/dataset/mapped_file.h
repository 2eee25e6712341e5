// SPDX-License-Identifier: Apache-2.0
// A whole file as read-only memory.
//
// Where its bytes are does not change when it is moved. A file that is cut while it is mapped ends
// the process that reads past the cut, as the system has it. Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/status.h"

namespace shoal::dataset {

class MappedFile {
 public:
  // NOT_FOUND, DATA_LOSS naming `path`.
  static absl::StatusOr<MappedFile> Open(const std::string& path);

  MappedFile(MappedFile&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  // Begins at a page.
  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  MappedFile(void* data, std::size_t size) : data_(data), size_(size) {}

  void* data_;
  std::size_t size_;
};

}  // namespace shoal::dataset
