// SPDX-License-Identifier: Apache-2.0
// Checkpoints of ranks that need no folder in common.
//
// All ranks hold the same state, so none has to send its part to be saved. Ranks that see each
// other's files share a folder, and the lowest of them keeps it. With F folders the checkpoint is
// divided into F parts of equal length (checkpoint_manifest.h). The keeper of folder i writes part
// i and part i - 1 (modulo F), so each part lies in two folders, and all that is not divided lies
// in every one. Keepers then tell each other the digests of what is on their disks. Only where both
// copies of every part have the same, the manifest is written, in every folder, and only where that
// has happened everywhere, older checkpoints are removed; keepers agree on which are the best, of
// those that can be put together from all folders. So whenever and wherever processes die, a
// checkpoint can be put together, also where one folder is lost. With one folder, its keeper writes
// all files whole (checkpoint.h).
//
// A group that starts finds the newest checkpoint that can be put together from what all its ranks
// hold, however many there are and whatever number had written it. They send each other what some
// lack. Of a piece that is damaged the other copy is used.
//
// Functions that say so are collective: every rank calls them, in the same order. They return the
// reducer's errors, and those of a rank's disk on all ranks, with the name of the rank.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "platform/runtime/thread.h"
#include "rl/collectives/gradient_reducer.h"
#include "rl/training/checkpoint.h"
#include "rl/training/checkpoint_folder.h"
#include "rl/training/checkpoint_manifest.h"

namespace shoal::training {

// A checkpoint, and where it was.
struct SharedCheckpoint {
  Checkpoint checkpoint;
  // The text of its manifest, by which it is told from others of its number.
  std::string identity;
  // The ranks whose folders have it, by piece.
  std::map<std::string, std::vector<std::int64_t>> holders;
  // What was wrong with other copies and with checkpoints that would have been rather taken, on any
  // rank.
  std::vector<std::string> problems;
};

// Which checkpoint is wanted. Of those that are equally good the newest comes first.
struct CheckpointChoice {
  // Only this one will do.
  std::optional<std::int64_t> number = {};
  // Those up to this number come before later ones, of which the oldest comes first.
  std::optional<std::int64_t> rather_up_to = {};
  // Before all others come those that evaluations were made of, whatever their number, and of these
  // the one with the highest return.
  bool rather_best = false;
  // After all others come those of these identities, the oldest first.
  std::set<std::string> rather_not = {};
};

// A checkpoint without its large files.
struct ListedCheckpoint {
  std::string identity;
  Checkpoint checkpoint;
};

// Collective. Returns, in the order of `choice` and the same on all ranks, the checkpoints of which
// the ranks have all files in their sizes. The large ones, which may be divided, are not read.
absl::StatusOr<std::vector<ListedCheckpoint>> ListSharedCheckpoints(
    const std::string& root, collectives::GradientReducer& reducer,
    const CheckpointChoice& choice = {});

// Collective. Returns the first checkpoint by `choice` that the ranks can put together from their
// folders `root`, the same on all ranks. Without one, the error is the same on all ranks too, and
// lists what is wrong with each: DATA_LOSS where some are divided, because what is missing may be
// on a machine that is not there, and NOT_FOUND otherwise. DATA_LOSS also names a rank that sends
// what no rank sends.
absl::StatusOr<SharedCheckpoint> ReadSharedCheckpoint(const std::string& root,
                                                      collectives::GradientReducer& reducer,
                                                      const CheckpointChoice& choice = {});

// Writes the checkpoints of a group. Each is begun, written by a thread of the keeper's, and
// settled. Not thread-safe.
class SharedCheckpoints {
 public:
  struct Options {
    // This rank's folder, made if it is missing. Other ranks may have the same.
    std::string root;
    // The same on all ranks.
    KeptCheckpoints keep = {};
  };

  // Collective. Finds out which ranks share a folder, by a file that each makes and removes.
  // `reducer` outlives this.
  static absl::StatusOr<std::unique_ptr<SharedCheckpoints>> Create(
      const Options& options, collectives::GradientReducer& reducer);

  // Whether this rank keeps its folder: it writes there, and others that share it do not.
  bool keeps() const { return keeper_ == rank_; }
  std::size_t folders() const { return keepers_.size(); }
  // Whether all of `found` would still be there if any one folder were lost. True with one folder.
  bool Survives(const SharedCheckpoint& found) const;

  // Begins to write a checkpoint. Keepers alone call `take`, and before Begin returns: it copies
  // what training goes on to change. What it returns makes the checkpoint's files of that copy, on
  // the thread that writes, so that training waits for the copy alone. Files may share it: it is
  // let go of before `written`. Call it on every rank.
  // REQUIRES: nothing is under way.
  using MakeFiles = std::function<Checkpoint()>;
  void Begin(const std::function<MakeFiles()>& take);
  // Whether a checkpoint was begun and is not settled.
  bool under_way() const { return under_way_; }
  // Whether Settle would not wait for this rank's disk.
  bool written() const { return written_.load(std::memory_order_acquire); }
  // Collective. Waits until all is written, and makes it count. Does nothing unless one is under
  // way, which it is on all ranks or on none. RESOURCE_EXHAUSTED, which says how much room is
  // missing, where a disk is full and nothing else failed: the checkpoint before it is the newest
  // then. With one folder its keeper alone returns errors of the disk. INTERNAL where this one may
  // count although saving it failed.
  absl::Status Settle();
  // Collective. Removes the checkpoints after this number, which a later start would take
  // otherwise. INTERNAL, on all ranks, where one may still count. REQUIRES: nothing is under way.
  absl::Status WithdrawAfter(std::int64_t number) const;
  // Collective. The same with those of these identities.
  absl::Status WithdrawThese(const std::set<std::string>& identities) const;

 private:
  SharedCheckpoints(const Options& options, collectives::GradientReducer& reducer,
                    std::vector<std::int64_t> keeper_of);

  // The keeper whose part the keeper at `place` has a copy of.
  std::size_t Before(std::size_t place) const { return (place + folders() - 1) % folders(); }
  // Writes this folder's files and parts. In the manifest that it returns, the other parts have no
  // digests.
  absl::StatusOr<CheckpointManifest> WriteOwn(const Checkpoint& checkpoint) const;
  // Collective. Returns the manifest with all digests.
  absl::StatusOr<CheckpointManifest> Agree() const;
  // Collective. Returns the numbers of the best checkpoints up to `last` that are whole, all
  // folders together, and of better ones of which this folder has a part while another part is
  // away.
  absl::StatusOr<std::set<std::int64_t>> AgreeOnBest(std::int64_t last) const;

  const CheckpointFolder folder_;
  const KeptCheckpoints keep_;
  collectives::GradientReducer& reducer_;
  const std::int64_t rank_;
  // By rank, the keeper of its folder; and that of this rank's.
  const std::vector<std::int64_t> keeper_of_;
  const std::int64_t keeper_;
  // All keepers in ascending order.
  std::vector<std::int64_t> keepers_;
  bool under_way_ = false;
  // Set with release by the thread that writes, at its end.
  std::atomic<bool> written_{true};
  // What it has written, or why it has not.
  absl::StatusOr<CheckpointManifest> own_ = CheckpointManifest();
  runtime::Thread writing_;
};

}  // namespace shoal::training
