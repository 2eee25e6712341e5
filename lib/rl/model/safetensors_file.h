// SPDX-License-Identifier: Apache-2.0
// Weight files of any size on disk: mapped into memory to read, streamed to write.
//
// Errors name the file. A SafetensorsFile is immutable; any thread may read it.
#pragma once

#include <span>
#include <string>

#include "platform/runtime/mapped_file.h"
#include "platform/runtime/status.h"
#include "rl/model/safetensors.h"

namespace shoal::model {

// A file that stays mapped as long as this object lives (platform/runtime/mapped_file.h), so nobody
// may truncate it meanwhile. WriteSafetensorsFile only ever replaces files, which is safe.
class SafetensorsFile {
 public:
  // Returns the errors of MappedFile::Open and SafetensorsView::Parse.
  static absl::StatusOr<SafetensorsFile> Open(const std::string& path);

  const std::string& path() const { return path_; }
  const SafetensorsView& view() const { return view_; }

 private:
  SafetensorsFile() = default;

  std::string path_;
  runtime::MappedFile file_;
  SafetensorsView view_;
};

// Writes the whole file or nothing (platform/runtime/atomic_file.h), without copying the tensors'
// bytes. REQUIRES: what WriteSafetensors requires.
absl::Status WriteSafetensorsFile(const std::string& path, std::span<const SafetensorsItem> items,
                                  const Metadata& metadata);

}  // namespace shoal::model
