// SPDX-License-Identifier: Apache-2.0
// One simulated service: a world plus what was changed in it.
//
//   Instance instance(world, {.seed = 7});
//   instance.Reset({{"/redfish/v1/Systems/1", "/PowerState", "Off"}}, watch);
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
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/message.h"
#include "mockserver/world.h"
#include "redfish/goal.h"
#include "redfish/predicate.h"

namespace shoal::mockserver {

struct InstanceOptions {
  std::uint64_t seed = 0;
  // How long PoweringOn and PoweringOff last on the virtual clock; 0: not at all.
  std::chrono::milliseconds power_transient{0};
};

// `value` at `pointer` (RFC 6901) of the resource at `uri`; missing members are made.
struct StartPatch {
  std::string uri;
  std::string pointer;
  Json value;
};

// What an episode is judged by.
struct Watch {
  redfish::Predicate success;
  // At most 64.
  std::vector<redfish::Predicate> milestones;
  // Writable properties that may differ from the start; everything at or below a pointer.
  std::vector<redfish::AllowedChange> allowed_changes;
};

struct Evaluation {
  bool satisfied = false;
  // Bit i: milestone i was true at some evaluation since Reset.
  std::uint64_t milestones = 0;
  // Writable properties that differ from the start and are not allowed to.
  int collateral = 0;
};

class Instance final : public redfish::StateView {
 public:
  explicit Instance(std::shared_ptr<const World> world, InstanceOptions options = {});

  Response Handle(const Request& request);

  // Back to the world's state, then `patches` as the start that collateral is measured from.
  // History, clock and watch start anew. NOT_FOUND for a patch of a resource that the world lacks,
  // INVALID_ARGUMENT for a bad pointer or more than 64 milestones; the instance is then without
  // changes and watch.
  absl::Status Reset(std::span<const StartPatch> patches = {}, std::optional<Watch> watch = {});

  // Moves the virtual clock and completes what was due. REQUIRES: `by` is not negative.
  void Advance(std::chrono::milliseconds by);
  std::chrono::milliseconds now() const { return now_; }

  // Latches milestones. All false and zero without a watch.
  Evaluation Evaluate();
  bool has_watch() const { return watch_.has_value(); }

  // redfish::StateView. A pointer is valid until the next non-const call.
  const Json* Find(std::string_view uri) const override;
  std::span<const redfish::HistoryRecord> history() const override { return history_; }

  const World& world() const { return *world_; }
  std::size_t changed_resources() const { return deltas_.size(); }

 private:
  // What handlers (patch.cc, power.cc, ...) may do to an instance.
  friend class Editor;

  struct Delta {
    std::shared_ptr<Json> json;
    // Null until asked for again.
    std::shared_ptr<const std::string> body;
    std::uint64_t version = 0;
  };
  // The first value of a writable property that something wrote to since Reset.
  struct Touched {
    ResourceId resource;
    std::string pointer;
    std::optional<Json> start;
  };
  struct Timer {
    std::chrono::milliseconds due;
    ResourceId resource;
    std::string power_state;
  };

  const std::shared_ptr<const World> world_;
  const InstanceOptions options_;

  absl::flat_hash_map<ResourceId, Delta> deltas_;
  std::vector<redfish::HistoryRecord> history_;
  std::vector<Touched> touched_;
  std::vector<Timer> timers_;
  std::chrono::milliseconds now_{0};
  std::optional<Watch> watch_;
  std::uint64_t latched_ = 0;
};

}  // namespace shoal::mockserver
