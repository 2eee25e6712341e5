// SPDX-License-Identifier: Apache-2.0
// The part of an instance that changes while it is used, as a value: Reset drops it, and a
// savepoint keeps a copy.
//
// A copy costs pointers, not bodies: bodies are shared until one side changes them (ResourceDelta),
// the history until one side appends.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <any>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <typeindex>
#include <vector>

#include "mockserver/messages/message.h"
#include "mockserver/service/resource_delta.h"
#include "mockserver/service/world.h"
#include "platform/runtime/random.h"
#include "platform/runtime/text_map.h"
#include "redfish/goals/predicate.h"
#include "redfish/goals/watch.h"

namespace shoal::mockserver {

class Editor;

inline constexpr std::size_t kMaximumRecords = 65'536;

struct InstanceState {
  struct Timer {
    std::chrono::milliseconds due;
    std::uint64_t order = 0;
    std::function<void(Editor&)> run;
  };
  using History = std::vector<redfish::HistoryRecord>;

  explicit InstanceState(std::uint64_t seed) : random_(seed) {}

  // Appends to the history, up to kMaximumRecords. Further records are dropped.
  void Append(redfish::HistoryRecord record);

  absl::flat_hash_map<ResourceId, ResourceDelta> deltas_;
  // Resources beyond the world's, in order of their ids. A resource that was removed again stays
  // here, without a delta; ids are not reused.
  std::deque<World::Resource> created_;
  runtime::TextMap<ResourceId> created_ids_;
  runtime::TextMap<World::Action> created_actions_;
  absl::flat_hash_set<ResourceId> removed_;
  // The number of members that came or went by a client's doing, by collection.
  std::map<ResourceId, std::int64_t> membership_;
  // Members that came since the start, and whether each counts as a side effect.
  absl::flat_hash_map<ResourceId, bool> came_;
  // What handlers remember beside the tree, one object per type.
  absl::flat_hash_map<std::type_index, std::any> notes_;
  // Copies share the history until one side appends.
  std::shared_ptr<History> history_ = std::make_shared<History>();
  std::map<std::string, Timer, std::less<>> timers_;
  std::uint64_t timers_total_ = 0;
  std::chrono::milliseconds now_{0};
  std::chrono::milliseconds offline_until_{0};
  runtime::Random random_;
  std::optional<redfish::Watch> watch_;
  redfish::Progress progress_;
  // Whether progress_ still holds.
  bool evaluated_ = false;
};

}  // namespace shoal::mockserver
