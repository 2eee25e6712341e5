// SPDX-License-Identifier: Apache-2.0
// Checkpoints on disk: folders that are either whole or not there.
//
// <root>/checkpoint-<number>/ holds the files and manifest.json {"version", "number", "files":
// {name:
// {"bytes", "sha256"}}}; <root>/LATEST names the last one written, for people. A checkpoint is
// written beside, synced and renamed, so a crash leaves the one before. Reading checks every size
// and digest and falls back to an older checkpoint when one is damaged. One writer at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::training {

struct Checkpoint {
  std::int64_t number = 0;
  // Name -> bytes; names are plain file names.
  std::map<std::string, std::string> files;
};

// Replaces a checkpoint of the same number; then removes all but the newest `keep` (at least 1).
absl::Status WriteCheckpoint(const std::string& root, const Checkpoint& checkpoint,
                             std::int64_t keep);

// NOT_FOUND when there is none that is whole; the message lists what was wrong with each.
absl::StatusOr<Checkpoint> ReadNewestCheckpoint(const std::string& root);

}  // namespace shoal::training
