// SPDX-License-Identifier: Apache-2.0
// The files of a dataset: their paths, how they are written, and checks against recorded digests.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "text/dataset/manifest.h"

namespace shoal::dataset {

// Writes all three files into `folder`, which is created when missing, and records them in
// `manifest`. The old manifest is removed first and the new one written last, so that a folder with
// a manifest is a whole dataset even after a crash. Returns the errors of WriteFileAtomically, or
// INTERNAL when the old manifest cannot be removed.
absl::Status WriteDataset(Manifest& manifest, std::string_view chunks, std::string_view tokenizer,
                          const std::string& folder);

// Returns ALREADY_EXISTS unless the folder is empty or absent.
absl::Status RequireFreeFolder(const std::string& folder);

// Returns the path of one of a dataset's files.
std::string DatasetPath(const std::string& folder, std::string_view file);

// Returns `folder` without trailing slashes, so that a path which appends to it lies beside it.
std::string WithoutTrailingSlashes(std::string folder);

// Returns DATA_LOSS naming `path` when its size differs from the record of `recorder`, which is
// "manifest" or "mirror".
absl::Status RequireSize(const std::string& path, std::uint64_t bytes, const FileRecord& recorded,
                         const std::string& recorder);
// Also checks the SHA-256 of `bytes`, which are the whole file.
absl::Status RequireDigest(const std::string& path, std::string_view bytes,
                           const FileRecord& recorded, const std::string& recorder);

}  // namespace shoal::dataset
