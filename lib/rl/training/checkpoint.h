// SPDX-License-Identifier: Apache-2.0
// Checkpoints on disk: folders that are either whole or absent (checkpoint_folder.h).
//
// Here one process writes and reads them. Where ranks have folders of their own, they share
// checkpoints (shared_checkpoints.h).
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

  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// Replaces a checkpoint of the same number, then removes all but the newest `keep` (at least 1).
// Only one writer at a time may use a root.
absl::Status WriteCheckpoint(const std::string& root, const Checkpoint& checkpoint,
                             std::int64_t keep);

// Checks every size and digest, and falls back to an older checkpoint when one is damaged. Returns
// NOT_FOUND when no checkpoint is whole; the message lists what is wrong with each.
absl::StatusOr<Checkpoint> ReadNewestCheckpoint(const std::string& root);

}  // namespace shoal::training
