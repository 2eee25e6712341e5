// SPDX-License-Identifier: Apache-2.0
// Packs a dataset into one .tar.xz archive, and unpacks it.
//
// An archive holds <name>/manifest.json, <name>/chunks.bin and <name>/tokenizer.json, and nothing
// else. Both directions work in memory; neither accepts more than the limit of bytes in files.
#pragma once

#include <cstddef>
#include <string>

#include "platform/runtime/status.h"
#include "redfish/capture/archive.h"
#include "text/dataset/dataset.h"
#include "text/dataset/manifest.h"

namespace shoal::dataset {

// Returns the archive's bytes, which are the same for the same dataset and name. INVALID_ARGUMENT
// for a name that IsArchiveName (mirror_index.h) rejects; the errors of Dataset::Verify;
// RESOURCE_EXHAUSTED naming the limit, redfish::kMaximumUnpackedBytes. `observer` may be empty.
absl::StatusOr<std::string> PackDataset(const Dataset& dataset, const std::string& name,
                                        const redfish::PackObserver& observer);

struct UnpackOptions {
  std::string archive = {};
  // The function creates this folder; nothing of it is left after an error.
  std::string folder = {};
  // The limit on the size of all files together.
  std::size_t max_bytes = redfish::kMaximumUnpackedBytes;
};

// Unpacks and verifies the archive, and only then moves the dataset to its folder. No name in the
// archive becomes a path: any file besides a dataset's three is an error. Returns NOT_FOUND for no
// such archive; ALREADY_EXISTS when the folder is not empty; DATA_LOSS naming the archive and the
// file in it; RESOURCE_EXHAUSTED and INTERNAL from writing.
absl::StatusOr<Manifest> UnpackDataset(const UnpackOptions& options);

}  // namespace shoal::dataset
