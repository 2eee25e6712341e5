// SPDX-License-Identifier: Apache-2.0
#include "replay/table_settings.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <array>
#include <utility>

#include "platform/runtime/config.h"
#include "platform/runtime/log.h"

namespace shoal::replay {
namespace {

constexpr std::array<const char*, 9> kChangeable = {
    "max_size",        "max_bytes", "memory_bytes",       "max_times_sampled", "max_staleness",
    "max_age_seconds", "min_size",  "samples_per_insert", "error_buffer"};

absl::Status CheckChangeable(const std::string& setting) {
  const std::string knob = setting.substr(0, setting.find('='));
  if (std::find(kChangeable.begin(), kChangeable.end(), knob) != kChangeable.end()) {
    return absl::OkStatus();
  }
  return runtime::InvalidArgument("'" + knob + "' cannot be changed while the table is in use: " +
                                  absl::StrJoin(kChangeable, ", ") + " can");
}

}  // namespace

TableSettings::TableSettings(std::vector<TableKnobs> tables, const ShardPlace& place, Shard& shard,
                             std::optional<transport::AddressList> shards)
    : shard_(shard), place_(place), shards_(std::move(shards)), tables_(std::move(tables)) {}

void TableSettings::FollowShards(runtime::TimePoint now) {
  const runtime::MutexLock lock(mutex_);
  if (!shards_ || !shards_->Refresh(now) || shards_->addresses().size() == place_.shards) return;
  place_.shards = shards_->addresses().size();
  spdlog::info("event=shards_changed shards={}", place_.shards);
  for (const TableKnobs& table : tables_) {
    const absl::StatusOr<TableOptions> options = table.ForShard(place_);
    const absl::Status changed = options.ok() ? shard_.Change(*options) : options.status();
    if (!changed.ok()) {
      spdlog::error("event=table_unchanged reason={}", runtime::Quoted(changed.ToString()));
    }
  }
}

absl::Status TableSettings::Change(std::string_view table, std::span<const std::string> settings) {
  const runtime::MutexLock lock(mutex_);
  const auto found = std::find_if(tables_.begin(), tables_.end(),
                                  [table](const TableKnobs& it) { return it.name == table; });
  if (found == tables_.end()) {
    return runtime::NotFound("no table is named " + std::string(table));
  }
  TableKnobs changed = *found;
  runtime::Config config;
  config.Add("replay", changed);
  std::vector<std::string> overrides;
  for (const std::string& setting : settings) {
    SHOAL_RETURN_IF_ERROR(CheckChangeable(setting));
    overrides.push_back("replay." + setting);
  }
  SHOAL_RETURN_IF_ERROR(config.Load("", overrides));
  SHOAL_ASSIGN_OR_RETURN(const TableOptions options, changed.ForShard(place_));
  SHOAL_RETURN_IF_ERROR(shard_.Change(options));
  *found = std::move(changed);
  spdlog::info("event=table_changed table={} settings={}", runtime::Quoted(std::string(table)),
               runtime::Quoted(absl::StrJoin(settings, " ")));
  return absl::OkStatus();
}

}  // namespace shoal::replay
