// SPDX-License-Identifier: Apache-2.0
// The files of a dataset: where they are, how they are written, whether they are what is recorded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"
#include "text/dataset/manifest.h"

namespace shoal::dataset {

// Completes `manifest` with what the files are, and writes all three into `folder`, which is made
// when it is missing. The old manifest goes first and the new one comes last, so that a folder with
// a manifest is a whole dataset whenever the process dies. Errors: of WriteFileAtomically.
absl::Status WriteDataset(Manifest& manifest, std::string_view chunks, std::string_view tokenizer,
                          const std::string& folder);

// ALREADY_EXISTS when something but an empty folder is there.
absl::Status RequireFreeFolder(const std::string& folder);

// The path of one of a dataset's files.
std::string DatasetPath(const std::string& folder, std::string_view file);

// `folder` without the '/'s at its end, so that what begins with its name lies beside it.
std::string WithoutTrailingSlashes(std::string folder);

// DATA_LOSS naming `path` when it has another size than `recorder`, "manifest" or "mirror", says.
absl::Status RequireSize(const std::string& path, std::uint64_t bytes, const FileRecord& recorded,
                         const std::string& recorder);
// Also when `bytes`, all that is there, have another SHA-256.
absl::Status RequireDigest(const std::string& path, std::string_view bytes,
                           const FileRecord& recorded, const std::string& recorder);

}  // namespace shoal::dataset
