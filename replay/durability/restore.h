// SPDX-License-Identifier: Apache-2.0
// Functions that fill a shard's contents and tables from its database.
//
// A record that is damaged, or that lacks what it needs, is logged with its table and key, is
// counted as lost, is left out, and is deleted with the next write. An item and its row count as
// one. A part of a file that cannot be read is logged with the key at which it begins, and counts
// as one record where nothing else tells what it held.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platform/runtime/clock.h"
#include "platform/runtime/status.h"
#include "replay/content_store.h"
#include "replay/durability/changes.h"
#include "replay/durability/database.h"
#include "replay/table.h"

namespace shoal::replay::durability {

// Adds what has to be written to `changes`, and returns the number of records that were lost.
std::uint64_t RestoreContents(Database& database, ContentStore& contents, Changes& changes);

struct RestoredTable {
  // The number of records that were lost.
  std::uint64_t damaged = 0;
  // The number of ids that the table has ever seen.
  std::uint64_t seen = 0;
};

// Restores `table`, which is `changes`' table `index`. Returns FAILED_PRECONDITION, which names the
// column, if its items have another signature than its options. REQUIRES: the contents were
// restored.
absl::StatusOr<RestoredTable> RestoreTable(Database& database, Table& table, std::size_t index,
                                           Changes& changes, const runtime::Clock& clock);

}  // namespace shoal::replay::durability
