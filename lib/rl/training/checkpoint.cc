// SPDX-License-Identifier: Apache-2.0
#include "rl/training/checkpoint.h"

#include "rl/collectives/gradient_reducer.h"
#include "rl/training/checkpoint_folder.h"
#include "rl/training/shared_checkpoints.h"

namespace shoal::training {

absl::Status WriteCheckpoint(const std::string& root, const Checkpoint& checkpoint,
                             std::int64_t keep, std::int64_t keep_best) {
  const CheckpointFolder folder(root);
  CheckpointManifest manifest{.number = checkpoint.number, .mean_return = checkpoint.mean_return};
  SHOAL_RETURN_IF_ERROR(folder.Begin(checkpoint.number));
  for (const auto& [name, content] : checkpoint.files) {
    SHOAL_ASSIGN_OR_RETURN(manifest.files[name], folder.Put(checkpoint.number, name, content));
  }
  SHOAL_RETURN_IF_ERROR(folder.Commit(manifest));
  return folder.Keep({.newest = keep, .best = keep_best}, manifest.number);
}

absl::StatusOr<Checkpoint> ReadNewestCheckpoint(const std::string& root) {
  collectives::SingleRank alone;
  SHOAL_ASSIGN_OR_RETURN(SharedCheckpoint found, ReadSharedCheckpoint(root, alone));
  return std::move(found.checkpoint);
}

}  // namespace shoal::training
