// SPDX-License-Identifier: Apache-2.0
// The versions that a learner can still serve: recent ones from memory, others from files.
//
// Memory holds the newest version whatever its size, the newest that is finished, older ones as
// long as their total stays within a limit in bytes, and the version last read from a file. A
// version is finished when it has its SHA-256, and was rounded before that where halves are served
// (Finished in parameters_file.h). One may be added before it is finished. FinishNewest then
// finishes it, and Find finishes those that were superseded before FinishNewest came to them, when
// somebody asks for them. Thread-safe; the calling thread reads and finishes versions without
// holding the lock.
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

struct PublishedVersionsOptions {
  // Where versions are saved; empty for nowhere.
  std::string folder = {};
  // Where some of them are kept for longer; empty for nowhere.
  std::string kept_folder = {};
  // Bounds the versions in memory besides the newest.
  std::size_t recent_bytes = 0;
  // Whether versions that are added without a SHA-256 are rounded.
  bool halves = false;
};

class PublishedVersions {
 public:
  explicit PublishedVersions(const PublishedVersionsOptions& options)
      : options_(options), folder_(options.folder), kept_folder_(options.kept_folder) {}

  // Returns false for a version that is not newer than the last one.
  bool Add(Parameters parameters) ABSL_LOCKS_EXCLUDED(mutex_);
  // Finishes the last version that was added, if it is not. Returns false if newest() stays as it
  // is, because there is nothing to do or the version cannot be rounded, which is logged.
  bool FinishNewest() ABSL_LOCKS_EXCLUDED(mutex_);

  // Returns the last version that was added.
  std::optional<Version> last() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the newest version that is finished, or null before there is one.
  ParametersPointer newest() const ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the version if it is in memory and finished, and null otherwise.
  ParametersPointer Recent(const Version& version) const ABSL_LOCKS_EXCLUDED(mutex_);
  // Returns the version, finished; nullopt stands for the one that the run began with, which the
  // folder keeps. NOT_FOUND names the version; DATA_LOSS means a damaged file.
  absl::StatusOr<ParametersPointer> Find(const std::optional<Version>& version)
      ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  // Returns the version if it is in memory, finished or not, and null otherwise.
  ParametersPointer HeldLocked(const Version& version) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns `added` or what it becomes, which replaces it in memory.
  absl::StatusOr<ParametersPointer> Finish(const ParametersPointer& added)
      ABSL_LOCKS_EXCLUDED(mutex_);
  absl::StatusOr<Parameters> Read(const std::optional<Version>& version) const;

  const PublishedVersionsOptions options_;
  const ParametersFolder folder_;
  const ParametersFolder kept_folder_;

  mutable runtime::Mutex mutex_;
  // Ascending by version.
  std::deque<ParametersPointer> recent_ ABSL_GUARDED_BY(mutex_);
  ParametersPointer newest_ ABSL_GUARDED_BY(mutex_);
  ParametersPointer read_ ABSL_GUARDED_BY(mutex_);
  // It is set at the first request for the initial version, and never changes.
  std::optional<Version> initial_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::parameters
