// SPDX-License-Identifier: Apache-2.0
// Files of a .tar.xz archive, or of a folder, in memory; and such archives made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::redfish {

struct ArchiveFile {
  // Relative, with '/', without "./" at the front.
  std::string path;
  std::string bytes;
};

struct Archive {
  std::vector<ArchiveFile> files;
  // The archive's own bytes; empty for a folder.
  std::string bytes;
};

// No file of an archive may unpack to more; it is a guard, real captures are 15 MB in all.
inline constexpr std::size_t kMaximumUnpackedBytes = std::size_t{1} << 30;

// The last part of `path`, without ".tar.xz".
std::string ArchiveName(const std::string& path);

// The last part of `path`.
std::string_view FileName(std::string_view path);

// Regular files whose name ends in `suffix`. NOT_FOUND: nothing at `path`. DATA_LOSS: truncated,
// corrupt, or an archive that unpacks to more than `max_bytes`. Every error names `path`.
absl::StatusOr<Archive> ReadArchive(const std::string& path, std::string_view suffix,
                                    std::size_t max_bytes = kMaximumUnpackedBytes);

// Told of files packed, and of how many there are.
using PackObserver = std::function<void(std::int64_t, std::int64_t)>;

// A .tar.xz of `files`: the same bytes for the same files, whoever makes it and when. They are read
// by everyone, belong to user 0 and are of 1980. `observer` may be empty. INTERNAL.
absl::StatusOr<std::string> PackArchive(std::vector<ArchiveFile> files,
                                        const PackObserver& observer);

// The whole file. NOT_FOUND or DATA_LOSS naming it.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

}  // namespace shoal::redfish
