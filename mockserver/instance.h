// SPDX-License-Identifier: Apache-2.0
// One simulated service: a world plus what was changed in it.
//
//   Instance instance(world, {.seed = 7});
//   SHOAL_RETURN_IF_ERROR(instance.Reset(episode.start, watch));
//   Response response = instance.Handle({.method = Method::kGet, .uri = "/redfish/v1/Systems/1"});
//   Evaluation evaluation = instance.Evaluate();
//
// Not thread-safe: its owner serialises calls. Changes are copy-on-write, one resource at a time;
// Reset drops them (microseconds). A response stays valid after later changes. Requests never fail:
// what is wrong with one is in its status and its JSON error.
//
// Time is virtual and moves only by Advance: power transients and whatever else takes time complete
// there. Handling is a function of (world, options, the calls so far): same calls, same answers.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/message.h"
#include "mockserver/world.h"
#include "redfish/goal.h"
#include "redfish/predicate.h"
#include "redfish/watch.h"
#include "runtime/status.h"

namespace shoal::mockserver {

struct InstanceOptions {
  std::uint64_t seed = 0;
  // How long PoweringOn and PoweringOff last on the virtual clock; 0: not at all.
  std::chrono::milliseconds power_transient{0};
};

struct Evaluation {
  bool satisfied = false;
  // Bit i: milestone i was true at some evaluation since Reset, or at Reset.
  std::uint64_t milestones = 0;
  // Writable properties that differ from the start and are not allowed to.
  std::int64_t collateral = 0;
};

class Instance final : public redfish::StateView {
 public:
  explicit Instance(std::shared_ptr<const World> world, InstanceOptions options = {});

  // REQUIRES: nothing; any text may come from a peer.
  Response Handle(const Request& request);

  // Back to the world's state, then `start` in order as what collateral is measured from;
  // milestones that hold there are latched. History, clock and watch start anew. NOT_FOUND for a
  // start of a resource that the world lacks, INVALID_ARGUMENT for a pointer that leads nowhere;
  // the instance is then without changes and watch.
  absl::Status Reset(std::span<const redfish::StartOperation> start = {},
                     std::optional<redfish::Watch> watch = {});

  // Moves the virtual clock and completes what was due; a negative duration counts as 0.
  void Advance(std::chrono::milliseconds by);
  std::chrono::milliseconds now() const { return now_; }

  // Latches milestones. All false and zero without a watch. Cheap when nothing has changed.
  Evaluation Evaluate();
  bool has_watch() const { return watch_.has_value(); }

  // redfish::StateView. `uri` canonical; a pointer is valid until the next non-const call.
  const Json* Find(std::string_view uri) const override;
  const std::vector<redfish::HistoryRecord>& history() const override { return history_; }

  const World& world() const { return *world_; }
  // Resources that differ, or once differed, from the world's.
  std::size_t changed_resources() const { return deltas_.size(); }

 private:
  // What handlers (patch.cc, power.cc, ...) do to an instance.
  friend class Editor;

  struct Delta {
    std::shared_ptr<Json> json;
    // As it was after Reset.
    std::shared_ptr<const Json> start;
    // Null until asked for again.
    std::shared_ptr<const std::string> body;
    std::uint64_t version = 0;
    // -1: to be counted again.
    std::int64_t collateral = 0;
  };
  // The end of a power transient.
  struct Timer {
    std::chrono::milliseconds due;
    ResourceId system;
    bool power_on;
  };

  Response Options(std::string_view uri, const World::Action* action) const;
  Response Read(ResourceId id, const Request& request);
  Response ReadByQuery(ResourceId id, const Request& request);
  std::int64_t CountCollateral();

  const std::shared_ptr<const World> world_;
  const InstanceOptions options_;

  absl::flat_hash_map<ResourceId, Delta> deltas_;
  // BIOS attributes written to a settings object since the last boot.
  std::map<ResourceId, std::set<std::string>> pending_;
  std::vector<redfish::HistoryRecord> history_;
  std::vector<Timer> timers_;
  std::chrono::milliseconds now_{0};
  std::optional<redfish::Watch> watch_;
  redfish::WatchState progress_;
  // Evaluate's last answer holds.
  bool evaluated_ = false;
  Evaluation evaluation_;
};

}  // namespace shoal::mockserver
