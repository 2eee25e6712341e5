// SPDX-License-Identifier: Apache-2.0
// The versions that a learner can still serve: recent ones from memory, others from files.
//
// Memory holds the newest version whatever its size, older ones as long as their total stays within
// a limit in bytes, and the version last read from a file. Thread-safe; the calling thread reads
// files without holding the lock.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "rl/parameters/parameters_file.h"

namespace shoal::parameters {

struct Published {
  Parameters parameters;
  // The SHA-256 of the bytes.
  std::string digest;
};
using PublishedPointer = std::shared_ptr<const Published>;

class PublishedVersions {
 public:
  // `folder` is where versions are saved, and `kept_folder` where some of them are kept for longer;
  // empty for nowhere. `recent_bytes` bounds the versions in memory besides the newest.
  PublishedVersions(const std::string& folder, const std::string& kept_folder,
                    std::size_t recent_bytes)
      : has_folder_(!folder.empty()),
        folder_(folder),
        kept_folder_(kept_folder),
        recent_bytes_(recent_bytes) {}

  // Returns false for a version that is not newer than the newest.
  bool Add(PublishedPointer published) ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns null before the first version.
  PublishedPointer newest() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the version if it is among the recent ones in memory, and null otherwise.
  PublishedPointer Recent(const Version& version) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the version; nullopt stands for the one that the run began with, which the folder
  // keeps. NOT_FOUND names the version; DATA_LOSS means a damaged file.
  absl::StatusOr<PublishedPointer> Find(const std::optional<Version>& version)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  PublishedPointer RecentLocked(const Version& version) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::StatusOr<Parameters> Read(const std::optional<Version>& version) const;

  const bool has_folder_;
  const ParametersFolder folder_;
  const ParametersFolder kept_folder_;
  const std::size_t recent_bytes_;

  mutable runtime::Mutex mutex_;
  // Ascending by version.
  std::deque<PublishedPointer> recent_ ABSL_GUARDED_BY(mutex_);
  PublishedPointer read_ ABSL_GUARDED_BY(mutex_);
  // It is set at the first request for the initial version, and never changes.
  std::optional<Version> initial_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::parameters
