// SPDX-License-Identifier: Apache-2.0
// What a mirror offers: mirror.json beside its archives, in a folder or behind a web server.
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
// No archive of a mirror is larger.
inline constexpr std::uint64_t kMaximumArchive = std::uint64_t{1} << 30;

// Letters, digits, '.', '_' and '-', of which the first is none of the latter three; at most 128.
bool IsArchiveName(std::string_view name);

struct MirrorArchive {
  // IsArchiveName; its file is called the same with kArchiveSuffix.
  std::string name = {};
  std::uint64_t bytes = 0;
  // 64 hexadecimal digits, of the file.
  std::string sha256 = {};
  // As the dataset's manifest says.
  std::int64_t chunks = 0;
  std::int64_t tokens = 0;
  std::vector<std::string> licences = {};

  std::string File() const { return name + std::string(kArchiveSuffix); }
};

struct MirrorIndex {
  // By name, which is unique.
  std::vector<MirrorArchive> archives = {};

  // In the place of one of the same name.
  void Put(MirrorArchive archive);
  // NOT_FOUND naming those that there are.
  absl::StatusOr<MirrorArchive> Find(std::string_view name) const;

  std::string ToJson() const;
  // DATA_LOSS naming the byte that is no JSON, or the JSON Pointer of what is wrong.
  static absl::StatusOr<MirrorIndex> Parse(std::string_view text);
};

// A mirror in a folder: archives put into it, and all of it checked.
//
// What puts an archive in is alone: two at once may lose one of two entries. Readers may come at
// any time.

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
