// SPDX-License-Identifier: Apache-2.0
// What handlers work on, through Editor: the resources of one simulated service as they are now,
// its clock, its history and its notes.
//
// Instance (instance/instance.h) is the class that serves requests on top of it; this one knows
// neither requests nor any behaviour. Not thread-safe.
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
  // Resources that differ, or once differed, from the world's.
  std::size_t changed_resources() const { return deltas_.size(); }

  // redfish::StateView. `uri` is canonical; a pointer is valid until the next non-const call.
  const Json* Find(std::string_view uri) const override;
  const std::vector<redfish::HistoryRecord>& history() const override { return *history_; }

 protected:
  // `handlers` outlives the instance.
  InstanceCore(std::shared_ptr<const World> world, InstanceOptions options,
               const HandlerTable& handlers);

  // The resource of that name, if the world has it and it was not removed, or if it was created.
  std::optional<ResourceId> Locate(std::string_view uri) const;
  // The resource that a request to `uri` is for: POST to the Members of a collection is one to the
  // collection.
  std::optional<ResourceId> LocateTarget(Method method, std::string_view uri) const;
  const World::Resource& Description(ResourceId id) const;
  const World::Action* FindAction(std::string_view uri) const;
  // Makes the delta when it is not there yet.
  ResourceDelta& DeltaOf(ResourceId id);

  const std::shared_ptr<const World> world_;
  const InstanceOptions options_;
  const HandlerTable& handlers_;
  std::uint64_t resets_ = 0;
  // This number survives Reset.
  std::uint64_t numbers_total_ = 0;
  // How long a real clock had run before Reset: dates go on.
  std::chrono::milliseconds past_{0};

 private:
  friend class Editor;
};

}  // namespace shoal::mockserver
