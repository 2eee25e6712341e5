// SPDX-License-Identifier: Apache-2.0
// A journal makes a shard's durable tables and contents outlive the process, and takes the payloads
// and chunks for which there is no memory (replay/spill.h). replay/durability has one that writes
// to disk; the core knows only this interface.
//
// A change that a hook reports has a position, which counts up. Changes become durable in order. A
// promise to a client that rests on a change, such as an acknowledgement, is kept back until
// durable() has reached the change's position.
//
// Thread-safe. The shard owns its journal and calls it under its lock, so nothing here may wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "platform/runtime/status.h"
#include "replay/content_store.h"
#include "replay/spill.h"
#include "replay/table.h"

namespace shoal::replay {

// What a journal has done since it was made, and what it holds.
struct JournalStats {
  std::uint64_t written_bytes_total = 0;
  std::uint64_t syncs_total = 0;
  double sync_seconds_total = 0;
  // Changes that are not durable yet.
  std::uint64_t waiting_changes = 0;
  // Records that were lost since they were damaged: items, contents, and what tables remember.
  std::uint64_t damaged_total = 0;
  bool failing = false;
  // That of the last Checkpoint, over restarts and restores. Empty if there was none.
  std::string learner_checkpoint = {};
};

class Journal {
 public:
  virtual ~Journal() = default;

  // Fills `contents` and `tables`, which are empty, with what was stored, and follows them from now
  // on, as their hooks and their spill. Calls `changed` from a thread of its own, without a lock,
  // whenever durable() or Ready() has changed. All of them must outlive the journal. Fails when
  // nothing can be read; damage to single records is reported and costs these alone. Call it once.
  virtual absl::Status Start(ContentStore& contents, std::span<const std::unique_ptr<Table>> tables,
                             std::function<void()> changed) = 0;

  // Says whether the table may take further items. Returns RESOURCE_EXHAUSTED while writing is
  // behind or fails, for which the message gives the reason; it is tried again without end.
  virtual absl::Status Ready(std::size_t table) const = 0;

  // The position that has to be durable before an acknowledgement that rests on all changes up to
  // now leaves the shard. 0 where the table's acknowledgements do not wait.
  virtual std::uint64_t AcknowledgedAt(std::size_t table) const = 0;
  // The same for items that were sampled.
  virtual std::uint64_t SampledAt(std::size_t table) const = 0;
  virtual std::uint64_t durable() const = 0;

  // Returns the payloads that are on disk now. Null while the disk fails.
  virtual std::shared_ptr<const SpilledPayloads> Payloads() const = 0;
  // Returns false while the disk fails; Payloads() is null then.
  virtual bool readable() const = 0;

  // Both call `done` once, from a thread of the journal or before they return, and without a lock.
  // The status is CANCELLED if the journal ends before, and RESOURCE_EXHAUSTED if too many wait or
  // writing fails meanwhile.
  //
  // WhenDurable waits until all changes up to now are durable.
  virtual void WhenDurable(std::function<void(const absl::Status&)> done) = 0;
  // Writes a checkpoint of all that is durable, which holds this id of a learner's checkpoint, and
  // gives its directory. Returns INVALID_ARGUMENT if the id cannot name a folder, and
  // FAILED_PRECONDITION if there is such a checkpoint.
  virtual void Checkpoint(const std::string& learner_checkpoint,
                          std::function<void(const absl::StatusOr<std::string>&)> done) = 0;

  virtual JournalStats stats() const = 0;
};

}  // namespace shoal::replay
