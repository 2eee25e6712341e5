// SPDX-License-Identifier: Apache-2.0
// The knobs of a shard's tables, which may be changed while the tables are in use.
//
// Thread-safe. Changes are made one after another.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/clock.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/status.h"
#include "platform/transport/address_list.h"
#include "replay/options.h"
#include "replay/shard.h"

namespace shoal::replay {

class TableSettings {
 public:
  // `tables` are the knobs with which `shard` was made at this place. `shards` are the addresses of
  // all shards, if their number may change. `shard` must outlive this object.
  TableSettings(std::vector<TableKnobs> tables, const ShardPlace& place, Shard& shard,
                std::optional<transport::AddressList> shards = std::nullopt);

  // Gives knobs of `table` other values. A setting is "knob=value", named and bounded as in
  // [[replay.table]]; limits for all shards together are divided here as they are at the start. All
  // settings hold together or none does:
  //   NOT_FOUND           there is no such table.
  //   INVALID_ARGUMENT    a setting names no knob, or one that is fixed while the table is in use;
  //                       its value is out of range; or the table's options then contradict each
  //                       other. The message names the knob.
  absl::Status Change(std::string_view table, std::span<const std::string> settings)
      ABSL_LOCKS_EXCLUDED(mutex_);

  // Divides limits for all shards together anew if the number of shards has changed. Call it again
  // and again.
  void FollowShards(runtime::TimePoint now) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  Shard& shard_;

  runtime::Mutex mutex_;
  ShardPlace place_ ABSL_GUARDED_BY(mutex_);
  std::optional<transport::AddressList> shards_ ABSL_GUARDED_BY(mutex_);
  std::vector<TableKnobs> tables_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace shoal::replay
