// SPDX-License-Identifier: Apache-2.0
// Checkpoints on disk: folders that are either whole or absent.
//
// <root>/checkpoint-<number>/ holds the files and manifest.json, {"version", "number", "files":
// {name: {"bytes", "sha256"}}}. <root>/LATEST names the last checkpoint, for people. A checkpoint
// is written into a temporary folder, synced and renamed, so a crash leaves the previous one.
// Reading checks every size and digest and falls back to an older checkpoint when one is damaged.
// Only one writer at a time may use a root.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "platform/runtime/status.h"

namespace shoal::training {

struct Checkpoint {
  std::int64_t number = 0;
  // Maps a name to the file's bytes; names are plain file names.
  std::map<std::string, std::string> files;
};

// Replaces a checkpoint of the same number, then removes all but the newest `keep` (at least 1).
absl::Status WriteCheckpoint(const std::string& root, const Checkpoint& checkpoint,
                             std::int64_t keep);

// Returns NOT_FOUND when no checkpoint is whole; the message lists what is wrong with each.
absl::StatusOr<Checkpoint> ReadNewestCheckpoint(const std::string& root);

}  // namespace shoal::training
