// SPDX-License-Identifier: Apache-2.0
// A dataset as one .tar.xz archive, and back.
//
// An archive holds <name>/manifest.json, <name>/chunks.bin and <name>/tokenizer.json, and nothing
// else. Both ways go through memory; neither takes more than UnpackOptions::max_bytes of files.
#pragma once

#include <cstddef>
#include <string>

#include "platform/runtime/status.h"
#include "redfish/capture/archive.h"
#include "text/dataset/dataset.h"
#include "text/dataset/manifest.h"

namespace shoal::dataset {

// The archive's bytes: the same for the same dataset and name. INVALID_ARGUMENT for a name that
// IsArchiveName (mirror_index.h) refuses; of Dataset::Verify; RESOURCE_EXHAUSTED naming the limit,
// redfish::kMaximumUnpackedBytes. `observer` may be empty.
absl::StatusOr<std::string> PackDataset(const Dataset& dataset, const std::string& name,
                                        const redfish::PackObserver& observer);

struct UnpackOptions {
  std::string archive = {};
  // Made here; nothing of it is left after an error.
  std::string folder = {};
  // All files together.
  std::size_t max_bytes = redfish::kMaximumUnpackedBytes;
};

// Unpacks, verifies, and only then puts the dataset where it belongs. No name in the archive
// becomes a path: whatever is not one of a dataset's three files is an error. NOT_FOUND: no such
// archive. ALREADY_EXISTS: the folder is there and not empty. DATA_LOSS naming the archive and the
// file in it; RESOURCE_EXHAUSTED and INTERNAL of writing.
absl::StatusOr<Manifest> UnpackDataset(const UnpackOptions& options);

}  // namespace shoal::dataset
