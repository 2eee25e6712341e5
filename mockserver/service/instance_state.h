// SPDX-License-Identifier: Apache-2.0
// What changes in an instance while it is used, as a value: what Reset drops and a savepoint keeps.
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

struct Evaluation {
  bool satisfied = false;
  // Bit i: milestone i was true at some evaluation since Reset, or at Reset.
  std::uint64_t milestones = 0;
  // Writable properties that differ from the start, and resources that came or went, and are not
  // allowed to.
  std::int64_t collateral = 0;
};

struct InstanceState {
  struct Timer {
    std::chrono::milliseconds due;
    std::uint64_t order = 0;
    std::function<void(Editor&)> run;
  };
  using History = std::vector<redfish::HistoryRecord>;

  explicit InstanceState(std::uint64_t seed) : random_(seed) {}

  // Appends to the history, up to kMaximumRecords; further ones are dropped.
  void Append(redfish::HistoryRecord record);

  absl::flat_hash_map<ResourceId, ResourceDelta> deltas_;
  // Resources beyond the world's, in order of their ids. One that was removed again stays, without
  // a delta; ids are not used twice.
  std::deque<World::Resource> created_;
  runtime::TextMap<ResourceId> created_ids_;
  runtime::TextMap<World::Action> created_actions_;
  absl::flat_hash_set<ResourceId> removed_;
  // Collections whose members came or went by a client's doing, with how many.
  std::map<ResourceId, std::int64_t> membership_;
  // Members that came since the start, and whether that counts.
  absl::flat_hash_map<ResourceId, bool> came_;
  // What handlers remember beside the tree, one object a type.
  absl::flat_hash_map<std::type_index, std::any> notes_;
  // Shared by copies until one side appends.
  std::shared_ptr<History> history_ = std::make_shared<History>();
  std::map<std::string, Timer, std::less<>> timers_;
  std::uint64_t timers_total_ = 0;
  std::chrono::milliseconds now_{0};
  std::chrono::milliseconds offline_until_{0};
  runtime::Random random_;
  std::optional<redfish::Watch> watch_;
  redfish::WatchState progress_;
  // Evaluate's last answer holds.
  bool evaluated_ = false;
  Evaluation evaluation_;
};

}  // namespace shoal::mockserver
