// SPDX-License-Identifier: Apache-2.0
// Weight files on disk, of any size: mapped into memory to be read, streamed to be written.
//
// Errors name the file. Immutable; any thread may read.
#pragma once

#include <span>
#include <string>

#include "model/safetensors.h"
#include "runtime/status.h"

namespace shoal::model {

// A file that is mapped as long as this lives. It must not be cut short meanwhile: reading what is
// gone ends the process. Ours are only ever replaced (WriteSafetensorsFile).
class SafetensorsFile {
 public:
  // NOT_FOUND; INVALID_ARGUMENT and DATA_LOSS as SafetensorsView::Parse; INTERNAL with the system's
  // reason.
  static absl::StatusOr<SafetensorsFile> Open(const std::string& path);

  SafetensorsFile(SafetensorsFile&& other) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&& other) noexcept;
  ~SafetensorsFile();

  const std::string& path() const { return path_; }
  const SafetensorsView& view() const { return view_; }

 private:
  SafetensorsFile() = default;

  std::string path_;
  void* address_ = nullptr;
  std::size_t size_ = 0;
  SafetensorsView view_;
};

// Whole or not at all (runtime/atomic_file.h), without a copy of the bytes. REQUIRES: as
// WriteSafetensors.
absl::Status WriteSafetensorsFile(const std::string& path, std::span<const SafetensorsItem> items,
                                  const Metadata& metadata);

}  // namespace shoal::model
