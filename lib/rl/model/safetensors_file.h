// SPDX-License-Identifier: Apache-2.0
// Weight files on disk, of any size: mapped into memory to be read, streamed to be written.
//
// Errors name the file. Immutable; any thread may read.
#pragma once

#include <span>
#include <string>

#include "platform/runtime/mapped_file.h"
#include "platform/runtime/status.h"
#include "rl/model/safetensors.h"

namespace shoal::model {

// A file that is mapped as long as this lives (runtime/mapped_file.h): it must not be cut short
// meanwhile. Ours are only ever replaced (WriteSafetensorsFile).
class SafetensorsFile {
 public:
  // As MappedFile::Open and SafetensorsView::Parse.
  static absl::StatusOr<SafetensorsFile> Open(const std::string& path);

  const std::string& path() const { return path_; }
  const SafetensorsView& view() const { return view_; }

 private:
  SafetensorsFile() = default;

  std::string path_;
  runtime::MappedFile file_;
  SafetensorsView view_;
};

// Whole or not at all (runtime/atomic_file.h), without a copy of the bytes. REQUIRES: as
// WriteSafetensors.
absl::Status WriteSafetensorsFile(const std::string& path, std::span<const SafetensorsItem> items,
                                  const Metadata& metadata);

}  // namespace shoal::model
