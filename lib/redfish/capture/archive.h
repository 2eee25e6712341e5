// SPDX-License-Identifier: Apache-2.0
// Reads the files of a .tar.xz archive or of a folder into memory, and makes such archives.
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
  // The path is relative, uses '/', and has no "./" at the front.
  std::string path;
  std::string bytes;
};

struct Archive {
  std::vector<ArchiveFile> files;
  // The bytes of the archive itself; empty for a folder.
  std::string bytes;
};

// The size to which an archive may unpack. This is a guard: real captures have 15 MB in all.
inline constexpr std::size_t kMaximumUnpackedBytes = std::size_t{1} << 30;

// Returns the last part of `path`, without ".tar.xz". The "~7" of a variant (variant.h) stays.
std::string ArchiveName(const std::string& path);

// Returns the last part of `path`.
std::string_view FileName(std::string_view path);

// Reads the regular files whose name ends in `suffix`. NOT_FOUND: there is nothing at `path`.
// DATA_LOSS: the archive is truncated or corrupt, or unpacks to more than `max_bytes`. Every error
// names `path`.
absl::StatusOr<Archive> ReadArchive(const std::string& path, std::string_view suffix,
                                    std::size_t max_bytes = kMaximumUnpackedBytes);

// An observer receives the number of files packed so far and the number of all files.
using PackObserver = std::function<void(std::int64_t, std::int64_t)>;

// Returns a .tar.xz of `files`. Equal files give equal bytes, whoever makes the archive and when:
// every file is readable by everyone, belongs to user 0 and is dated 1980. `observer` may be empty.
// Fails with INTERNAL.
absl::StatusOr<std::string> PackArchive(std::vector<ArchiveFile> files,
                                        const PackObserver& observer);

// Returns the whole file. NOT_FOUND or DATA_LOSS naming it.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);

}  // namespace shoal::redfish
