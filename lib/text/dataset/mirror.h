// SPDX-License-Identifier: Apache-2.0
// A mirror in a folder: archives put into it, and all of it checked.
//
// What puts an archive in is alone: two at once may lose one of two entries. Readers may come at
// any time.
#pragma once

#include <functional>
#include <string>

#include "platform/runtime/status.h"
#include "redfish/capture/archive.h"
#include "text/dataset/mirror_index.h"

namespace shoal::dataset {

// NOT_FOUND, DATA_LOSS naming the index and what is wrong in it.
absl::StatusOr<MirrorIndex> ReadMirrorIndex(const std::string& mirror);

// Packs the dataset of `folder` into <mirror>/<name>.tar.xz, makes the mirror where it is missing,
// and lists the archive in its index, in the place of an older one of that name. Errors: of
// Dataset::Open, PackDataset, ReadMirrorIndex and WriteFileAtomically.
absl::StatusOr<MirrorArchive> PackIntoMirror(const std::string& folder, const std::string& mirror,
                                             const std::string& name,
                                             const redfish::PackObserver& observer);

// DATA_LOSS naming `file` where its size or SHA-256 is not `archive`'s. NOT_FOUND.
absl::Status VerifyArchive(const std::string& file, const MirrorArchive& archive);

// Told of each archive that is what the index says.
using MirrorObserver = std::function<void(const MirrorArchive&)>;

// The first that is not ends it with the errors of VerifyArchive.
absl::StatusOr<MirrorIndex> VerifyMirror(const std::string& mirror, const MirrorObserver& observer);

}  // namespace shoal::dataset
