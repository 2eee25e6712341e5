// SPDX-License-Identifier: Apache-2.0
// Checkpoints on disk: folders that are either whole or absent (checkpoint_folder.h).
//
// Here one process writes and reads them. Where ranks have folders of their own, they share
// checkpoints (shared_checkpoints.h).
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "platform/runtime/status.h"
#include "rl/training/file_content.h"

namespace shoal::training {

// By which checkpoints are compared: what the policy returned on average.
struct MeanReturn {
  double value = 0;
  // Whether evaluations returned it, or else episodes of training did.
  bool is_of_evaluation = false;

  // Those of evaluations come before all others.
  friend auto operator<=>(const MeanReturn& a, const MeanReturn& b) {
    return std::tuple(a.is_of_evaluation, a.value) <=> std::tuple(b.is_of_evaluation, b.value);
  }
  friend bool operator==(const MeanReturn&, const MeanReturn&) = default;
};

struct Checkpoint {
  std::int64_t number = 0;
  // Names are plain file names.
  std::map<std::string, FileContent> files;
  // A finite one, or nothing where none is known.
  std::optional<MeanReturn> mean_return = {};

  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// Replaces a checkpoint of the same number, then removes all but the newest `keep` (at least 1) and
// the `keep_best` with the highest returns. Only one writer at a time may use a root.
absl::Status WriteCheckpoint(const std::string& root, const Checkpoint& checkpoint,
                             std::int64_t keep, std::int64_t keep_best = 0);

// Checks every size and digest, and falls back to an older checkpoint when one is damaged. Returns
// NOT_FOUND when no checkpoint is whole; the message lists what is wrong with each.
absl::StatusOr<Checkpoint> ReadNewestCheckpoint(const std::string& root);

}  // namespace shoal::training
