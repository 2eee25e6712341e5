// SPDX-License-Identifier: Apache-2.0
// Files that are either the old or the new one, whenever the process dies.
//
// Thread-safe for different paths. Errors: NOT_FOUND, INTERNAL naming the path and the system's
// reason; RESOURCE_EXHAUSTED when the disk is full.
#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::runtime {

// Writes `path`.tmp-<pid>, syncs it, renames it over `path`, syncs the folder. Makes missing
// folders. `mode` is cut by the process's umask.
absl::Status WriteFileAtomically(const std::string& path, std::string_view bytes,
                                 mode_t mode = 0644);
// The same of what is never in one place: the pieces, one after the other.
absl::Status WriteFileAtomically(const std::string& path, std::span<const std::string_view> pieces,
                                 mode_t mode = 0644);

// The whole file; RESOURCE_EXHAUSTED past `max_bytes`.
absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     std::size_t max_bytes = std::size_t{1} << 32);

// Secrets that come from files, so that no process list and no configuration shows them.

// The first line of `path`, without its end. FAILED_PRECONDITION naming `path` when that is empty;
// otherwise as of ReadFile (atomic_file.h).
absl::StatusOr<std::string> ReadSecret(const std::string& path);

}  // namespace shoal::runtime
