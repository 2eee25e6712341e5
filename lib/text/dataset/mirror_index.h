// SPDX-License-Identifier: Apache-2.0
// The index of a mirror: mirror.json beside its archives, in a folder or behind a web server.
//
//   {"format": "shoal-mirror/1",
//    "archives": [{"name": "servers", "file": "servers.tar.xz", "bytes": 120000, "sha256": "...",
//                  "chunks": 2000, "tokens": 1500000, "licences": ["BSD-3-Clause"]}]}
//
// Plain values, not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "redfish/capture/archive.h"

namespace shoal::dataset {

inline constexpr std::string_view kMirrorFile = "mirror.json";
inline constexpr std::string_view kArchiveSuffix = ".tar.xz";
inline constexpr std::size_t kMaximumMirrorIndex = std::size_t{1} << 20;
// The maximum size of an archive in a mirror.
inline constexpr std::uint64_t kMaximumArchive = std::uint64_t{1} << 30;

// Accepts letters, digits, '.', '_' and '-', of which the first is a letter or digit; at most 128.
bool IsArchiveName(std::string_view name);

struct MirrorArchive {
  // A name that IsArchiveName accepts; its file is the name plus kArchiveSuffix.
  std::string name = {};
  std::uint64_t bytes = 0;
  // The SHA-256 of the file, 64 hexadecimal digits.
  std::string sha256 = {};
  // These three are copied from the dataset's manifest.
  std::int64_t chunks = 0;
  std::int64_t tokens = 0;
  std::vector<std::string> licences = {};

  std::string File() const { return name + std::string(kArchiveSuffix); }
};

struct MirrorIndex {
  // Sorted by name, which is unique.
  std::vector<MirrorArchive> archives = {};

  // Adds an archive, or replaces the one of the same name.
  void Put(MirrorArchive archive);
  // NOT_FOUND lists the archives of the index.
  absl::StatusOr<MirrorArchive> Find(std::string_view name) const;

  std::string ToJson() const;
  // DATA_LOSS names the byte that is not JSON, or the JSON Pointer of what is wrong.
  static absl::StatusOr<MirrorIndex> Parse(std::string_view text);
};

// A mirror in a folder: functions that add archives and check them.
//
// Only one writer may run at a time: two at once may lose an entry. Readers may run at any time.

// Returns NOT_FOUND, or DATA_LOSS naming the index and what is wrong in it.
absl::StatusOr<MirrorIndex> ReadMirrorIndex(const std::string& mirror);

// Packs the dataset of `folder` into <mirror>/<name>.tar.xz, creates the mirror when missing, and
// adds the archive to its index, replacing an older one of that name. Returns the errors of
// Dataset::Open, PackDataset, ReadMirrorIndex and WriteFileAtomically.
absl::StatusOr<MirrorArchive> PackIntoMirror(const std::string& folder, const std::string& mirror,
                                             const std::string& name,
                                             const redfish::PackObserver& observer);

// Returns NOT_FOUND, or DATA_LOSS naming `file` where its size or SHA-256 differs from `archive`.
absl::Status VerifyArchive(const std::string& file, const MirrorArchive& archive);

// It is called for each archive that matches the index.
using MirrorObserver = std::function<void(const MirrorArchive&)>;

// Checks all archives. Stops at the first that does not match, with the errors of VerifyArchive.
absl::StatusOr<MirrorIndex> VerifyMirror(const std::string& mirror, const MirrorObserver& observer);

}  // namespace shoal::dataset
