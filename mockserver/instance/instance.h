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
// Time is virtual and moves only by Advance: power transients, tasks and whatever else takes time
// complete there. Handling is a function of (world, options, the calls so far): same calls, same
// answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mockserver/faults/fault_injector.h"
#include "mockserver/instance/savepoint.h"
#include "mockserver/messages/message.h"
#include "mockserver/service/instance_core.h"
#include "mockserver/service/instance_options.h"
#include "mockserver/service/world.h"
#include "platform/runtime/status.h"
#include "redfish/goals/goal.h"
#include "redfish/goals/predicate.h"
#include "redfish/goals/watch.h"

namespace shoal::mockserver {

class Editor;
class ExternalHandlers;
class RuleSet;
struct Call;
struct Delivery;
struct ExternalReply;
struct Principal;

class Instance final : public InstanceCore {
 public:
  static constexpr std::size_t kMaximumSavepoints = 64;

  explicit Instance(std::shared_ptr<const World> world, InstanceOptions options = {});

  // REQUIRES: nothing; any text may come from a peer.
  Response Handle(const Request& request);

  // The answer to a request whose response said that a handler outside is to be asked, now that the
  // handler has replied or failed. Other calls may have come between.
  Response Complete(const ExternalCall& call, absl::StatusOr<ExternalReply> reply);

  // What the instance is taught stays through Reset; null: nothing.
  void SetRules(std::shared_ptr<const RuleSet> rules) { rules_ = std::move(rules); }
  const std::shared_ptr<const RuleSet>& rules() const { return rules_; }
  void SetExternalHandlers(std::shared_ptr<const ExternalHandlers> handlers) {
    external_handlers_ = std::move(handlers);
  }
  const std::shared_ptr<const ExternalHandlers>& external_handlers() const {
    return external_handlers_;
  }
  // What goes wrong from now on; its counts start anew here and with Reset. Null: nothing.
  void SetFaults(std::shared_ptr<const FaultSet> faults);
  const std::shared_ptr<const FaultSet>& faults() const { return faults_.faults(); }

  // Remembers the instance as it is, in place of an earlier savepoint of that name; for as long as
  // the instance lives, Reset or not. Costs what InstanceState's copy does. INVALID_ARGUMENT for a
  // name that is not 1 to 64 letters, digits, '-', '_' and '.', RESOURCE_EXHAUSTED past
  // kMaximumSavepoints.
  absl::Status Save(std::string name);
  // Back to it: the same calls get the same answers as they did, or would have, then. Dates of a
  // real clock go on; what a handler outside was asked before is answered 503. NOT_FOUND.
  absl::Status Restore(std::string_view name);
  // False when there was none.
  bool Forget(std::string_view name);
  const std::map<std::string, Savepoint, std::less<>>& savepoints() const { return savepoints_; }

  // Back to the world's state, then `start` in order as what collateral is measured from;
  // milestones that hold there are latched. History, clock and watch start anew. Requests of a
  // start are an administrator's, and time passes until their work is done. NOT_FOUND for a start
  // of a resource that the world lacks, INVALID_ARGUMENT for a pointer that leads nowhere,
  // FAILED_PRECONDITION for a request that is refused; the instance is then without changes and
  // watch.
  absl::Status Reset(std::span<const redfish::StartOperation> start = {},
                     std::optional<redfish::Watch> watch = {});

  // Moves the virtual clock and completes what was due; a negative duration counts as 0.
  void Advance(std::chrono::milliseconds by);

  // With EventDelivery::kPush, the events to be sent now; each is handed out once, and
  // ReportDelivery is owed its outcome. What was taken before Reset is of no interest after it.
  std::vector<Delivery> TakeDeliveries();
  void ReportDelivery(std::uint64_t number, bool delivered);
  // What is to be written next to a stream that Response::event_stream named; nothing once it has
  // ended.
  std::optional<std::string> TakeStreamText(std::uint64_t stream);
  void CloseStream(std::uint64_t stream);
  // Whether there may be something to take.
  bool HasEventsToSend();

  // Latches milestones. All false and zero without a watch. Cheap when nothing has changed.
  Evaluation Evaluate();
  bool has_watch() const { return watch_.has_value(); }

  bool HasPassword(std::string_view uri, std::string_view name,
                   std::string_view password) const override;

 private:
  // Handle, nothing going wrong. `uri` is canonical.
  Response Serve(const Request& request, std::string_view uri);
  Response ServeStruck(const Request& request, std::string_view uri, const Strikes& strikes);
  void RecordFault(const Fault& fault, Method method, std::string_view uri, std::uint64_t number);

  // `principal` is who asks, null where nobody needs to say.
  Response Answer(const Request& request, std::string_view uri, const Principal* principal);
  Response Get(const Request& request, std::string_view uri, bool queries,
               const Principal* principal);
  Response Dispatch(const Request& request, std::string_view uri, const Principal* principal);
  Response Change(const Request& request, ResourceId id, const World::Action* action,
                  const Principal* principal);
  Response Perform(Editor& editor, const Call& call);
  Response AnswerElsewhere(const Request& request, std::string_view uri,
                           const Principal* principal);
  Response Read(ResourceId id, const Request& request);
  Response ReadByQuery(ResourceId id, const Request& request, const Principal* principal);
  void Clear();
  // Bodies of captured resources that this episode has changed go to the pool.
  void GiveTreesBack();
  absl::Status PerformStart(const redfish::StartOperation& operation);
  std::int64_t CountCollateral();

  std::shared_ptr<const RuleSet> rules_;
  std::shared_ptr<const ExternalHandlers> external_handlers_;
  FaultInjector faults_;
  std::map<std::string, Savepoint, std::less<>> savepoints_;
};

}  // namespace shoal::mockserver
