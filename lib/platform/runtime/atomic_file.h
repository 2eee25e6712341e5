// SPDX-License-Identifier: Apache-2.0
// Reads whole files, and writes files so that they hold either the old or the new content whenever
// the process dies. Large files bypass the page cache where the file system can do that.
//
// Thread-safe for different paths. Errors: NOT_FOUND, INTERNAL naming the path and the system's
// reason, RESOURCE_EXHAUSTED when the disk is full; reading a folder is INVALID_ARGUMENT.
#pragma once

#include <sys/types.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "platform/runtime/large_memory.h"
#include "platform/runtime/status.h"

namespace shoal::runtime {

// Writes `path`.tmp-<pid>, syncs it, renames it over `path` and syncs the folder. Missing folders
// are made. The process's umask applies to `mode`.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes,
                                 mode_t mode = 0644);
// Writes `pieces` one after the other, so that the content need not exist in one string.
absl::Status WriteFileAtomically(const std::string& path, std::span<const std::string_view> pieces,
                                 mode_t mode = 0644);

// Makes the folder of `path` and says whether a file can be written there later, though the disk
// may be full by then. INVALID_ARGUMENT if `path` is a folder.
absl::Status CheckWritable(const std::string& path);

// Returns the whole file, or RESOURCE_EXHAUSTED when it is larger than `max_bytes`.
absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     std::size_t max_bytes = std::size_t{1} << 32);

// The same for a plain file, straight into memory of its own (large_memory.h). `arrived` is called
// with its bytes from first to last, part by part while later ones are read. INVALID_ARGUMENT for
// what is no plain file.
absl::StatusOr<SharedBytes> ReadSharedFile(const std::string& path, std::size_t max_bytes,
                                           const std::function<void(const SharedBytes&)>& arrived);

// Secrets are read from files, so that neither the process list nor the configuration shows them.

// Returns the first line of `path` without its line end. FAILED_PRECONDITION naming `path` when
// that line is empty; other errors are those of ReadFile.
absl::StatusOr<std::string> ReadSecret(const std::string& path);

}  // namespace shoal::runtime
