// SPDX-License-Identifier: Apache-2.0
// The checkpoints in one folder, or the parts of checkpoints, each of which is whole or absent
// there.
//
// <root>/checkpoint-<number>/ holds files and manifest.json (checkpoint_manifest.h). It is written
// as <root>/.writing-checkpoint-<number>, synced and renamed, so a crash leaves the previous one.
// <root>/LATEST names the last checkpoint, for people: nothing reads it, and it names an older one
// where the disk had no room for it. Reading believes no file whose size and digest are not those
// of a manifest.
//
// Thread-safe; only one writer at a time may use a root. Besides the errors named below, functions
// return those of runtime::WriteFileAtomically, INTERNAL with the system's reason, and
// RESOURCE_EXHAUSTED where that is a full disk.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "platform/runtime/status.h"
#include "rl/training/checkpoint_manifest.h"
#include "rl/training/file_content.h"

namespace shoal::training {

// How many checkpoints stay.
struct KeptCheckpoints {
  // At least 1.
  std::int64_t newest = 3;
  // Those with the highest returns, which may be among the newest. Of equal ones the older stays.
  std::int64_t best = 0;
};

class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::string root) : root_(std::move(root)) {}

  // Begins to write the checkpoint `number`, and removes what was begun before and has no manifest.
  // What is there of this checkpoint stays until Commit.
  absl::Status Begin(std::int64_t number) const;
  // Writes one file of it, and returns its digest. INVALID_ARGUMENT unless `name` is a plain name.
  absl::StatusOr<FileDigest> Put(std::int64_t number, const std::string& name,
                                 const FileContent& content) const;
  // Removes what was begun and has no manifest.
  absl::Status RemoveUncommitted() const;
  // Makes what was put a checkpoint, in place of one of the same number. After RESOURCE_EXHAUSTED
  // there is no checkpoint of this number that there was not before. INTERNAL where one may still
  // count, because it cannot be removed or is the only copy.
  absl::Status Commit(const CheckpointManifest& manifest) const;
  // Whether there is a checkpoint of this number, be it whole or not, or the disk does not tell.
  bool Has(std::int64_t number) const;
  // Makes a checkpoint count no longer, and removes it. INTERNAL where that fails, also on a full
  // disk.
  absl::Status Withdraw(std::int64_t number) const;
  // Does so with all checkpoints after this number, be they whole or not, for good: after a loss of
  // power they do not come back.
  absl::Status WithdrawAfter(std::int64_t number) const;
  // The same with those of these manifests. Another one of the same number stays.
  absl::Status WithdrawThese(const std::set<std::string>& manifests) const;
  // Removes all but those to keep of the checkpoints up to the number `last`, and what was never
  // committed. Later ones stay: they are of a run that could not be loaded, and count for nothing
  // here. So does what a full disk has no room to remove, until the next call.
  absl::Status Keep(const KeptCheckpoints& kept, std::int64_t last) const;
  // The same where the best are those of several folders, which agree on them.
  absl::Status Keep(std::int64_t newest, const std::set<std::int64_t>& best,
                    std::int64_t last) const;
  // Returns the numbers of those of `manifests` with the highest returns, `count` at most.
  static std::set<std::int64_t> BestOf(std::vector<CheckpointManifest> manifests,
                                       std::int64_t count);

  // Returns the manifests of this folder, newest first; also of checkpoints that a crash kept from
  // being renamed. What is wrong with others is added to `problems`.
  std::vector<CheckpointManifest> Manifests(std::vector<std::string>& problems) const;
  // Returns a file of a checkpoint. NOT_FOUND where this folder does not have it, and DATA_LOSS,
  // which names the file, where it is not what was written.
  absl::StatusOr<FileContent> Read(std::int64_t number, const std::string& name,
                                   const FileDigest& digest) const;

  // Whether a file of a checkpoint is where Read looks, in its size. What it holds is not looked
  // at.
  bool Holds(std::int64_t number, const std::string& name, const FileDigest& digest) const;

  const std::string& root() const { return root_; }
  // Returns the number of the checkpoint whose folder `path` is, or nothing where its name is not
  // that of one.
  static std::optional<std::int64_t> NumberIn(const std::string& path);

 private:
  std::string PathOf(std::int64_t number) const;
  std::string WritingPathOf(std::int64_t number) const;
  // Reads the manifest of the folder `name`, which is that of the checkpoint `number`.
  absl::StatusOr<CheckpointManifest> ManifestIn(const std::string& name, std::int64_t number) const;
  // Removes a folder, its manifest first.
  absl::Status Remove(const std::string& path) const;
  // Does so with all folders of checkpoints for which `goes` says so.
  absl::Status RemoveWhere(
      const std::function<bool(const std::string& name, std::int64_t number)>& goes) const;

  const std::string root_;
};

}  // namespace shoal::training
