// SPDX-License-Identifier: Apache-2.0
// The part of an instance that handlers work on, through Editor: the current resources of one
// simulated service, its clock, its history and its notes.
//
// Instance (instance/instance.h) builds on this class to serve requests. InstanceCore knows neither
// requests nor any behaviour. It is not thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "mockserver/messages/message.h"
#include "mockserver/service/instance_options.h"
#include "mockserver/service/instance_state.h"
#include "mockserver/service/world.h"
#include "redfish/goals/predicate.h"

namespace shoal::mockserver {

class HandlerTable;

class InstanceCore : public redfish::StateView, protected InstanceState {
 public:
  const World& world() const { return *world_; }
  std::chrono::milliseconds now() const { return now_; }
  // The number of resources that differ, or once differed, from the world's.
  std::size_t changed_resources() const { return deltas_.size(); }

  // Implements redfish::StateView. `uri` must be canonical. The pointer is valid until the next
  // non-const call.
  const Json* Find(std::string_view uri) const override;
  const std::vector<redfish::HistoryRecord>& history() const override { return *history_; }

 protected:
  // `handlers` must outlive the instance.
  InstanceCore(std::shared_ptr<const World> world, InstanceOptions options,
               const HandlerTable& handlers);

  // Returns the resource at `uri`, when the world has it and it was not removed, or when it was
  // created.
  std::optional<ResourceId> Locate(std::string_view uri) const;
  // Returns the resource that a request to `uri` addresses. A POST to the Members of a collection
  // addresses the collection.
  std::optional<ResourceId> LocateTarget(Method method, std::string_view uri) const;
  const World::Resource& Description(ResourceId id) const;
  const World::Action* FindAction(std::string_view uri) const;
  // Creates the delta when there is none yet.
  ResourceDelta& DeltaOf(ResourceId id);

  const std::shared_ptr<const World> world_;
  const InstanceOptions options_;
  const HandlerTable& handlers_;
  std::uint64_t resets_ = 0;
  // Counts NewNumber. Reset and Restore leave it as it is.
  std::uint64_t numbers_total_ = 0;
  // How long a real clock ran before the last Reset, so that dates continue from there.
  std::chrono::milliseconds past_{0};

 private:
  friend class Editor;
};

}  // namespace shoal::mockserver
