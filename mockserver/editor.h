// SPDX-License-Identifier: Apache-2.0
// What a handler does to an instance: reads and writes properties, records history, sets timers.
//
// Every change of a resource goes through Set, which keeps bodies, ETags and side effects right.
// Lives for one request or one tick of the clock; borrows the instance.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "mockserver/instance.h"

namespace shoal::mockserver {

class Editor {
 public:
  explicit Editor(Instance& instance) : instance_(instance) {}

  const World& world() const { return *instance_.world_; }
  const InstanceOptions& options() const { return instance_.options_; }

  // The resource as it is now; valid until the next Set.
  const Json& Read(ResourceId id) const;
  // Null when absent; valid until the next Set.
  const Json* Read(ResourceId id, std::string_view pointer) const;
  // The text at `pointer`; empty when it is none.
  std::string Text(ResourceId id, std::string_view pointer) const;
  std::string ETag(ResourceId id) const;
  // Attributes of a settings object that wait for the next boot.
  void AddPending(ResourceId settings, const std::string& attribute) {
    instance_.pending_[settings].insert(attribute);
  }
  std::set<std::string> TakePending(ResourceId settings) {
    auto taken = instance_.pending_.extract(settings);
    return taken.empty() ? std::set<std::string>() : std::move(taken.mapped());
  }

  // It differs, or once differed, from the world's.
  bool IsChanged(ResourceId id) const { return instance_.deltas_.contains(id); }
  // The virtual clock.
  std::chrono::milliseconds now() const { return instance_.now_; }

  // Writes `value` at `pointer`; nothing happens when it is there already. False when the pointer
  // leads nowhere.
  bool Set(ResourceId id, std::string_view pointer, Json value);
  // Set, but only where there is something.
  void SetPresent(ResourceId id, std::string_view pointer, Json value);

  // GET's answer for the resource as it is now.
  Response Resource(ResourceId id);

  void Record(std::string_view kind, ResourceId id, Json detail);
  // The system's power transient ends after `delay`; forgets an earlier one of the same system.
  void SetPowerTimer(ResourceId system, std::chrono::milliseconds delay, bool power_on);
  void CancelPowerTimer(ResourceId system);

 private:
  Instance::Delta& Change(ResourceId id);

  Instance& instance_;
};

}  // namespace shoal::mockserver
