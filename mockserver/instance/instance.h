// SPDX-License-Identifier: Apache-2.0
// One simulated service: a world plus what was changed in it.
//
//   Instance instance(world, {.seed = 7});
//   SHOAL_RETURN_IF_ERROR(instance.Reset(episode.start, watch));
//   Response response = instance.Handle({.method = Method::kGet, .uri = "/redfish/v1/Systems/1"});
//   redfish::Progress progress = instance.Evaluate();
//
// Not thread-safe: the owner serialises calls. Changes are copy-on-write, one resource at a time,
// and Reset drops them within microseconds. A response stays valid after later changes. Requests
// never fail: errors are reported in the response's status and its JSON.
//
// Time is virtual and moves only by Advance, which completes power transients, tasks and everything
// else that takes time. Answers are a function of (world, options, the calls so far): equal calls
// get equal answers.
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
#include "mockserver/messages/message.h"
#include "mockserver/service/instance_core.h"
#include "mockserver/service/instance_options.h"
#include "mockserver/service/instance_state.h"
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

// A copy of an instance at a moment (Instance::Save), except for the numbers that it must not give
// out twice (Editor::NewNumber). It is a value that only Instance reads.
struct Savepoint {
  InstanceState state;
  // The rules and external handlers of the instance.
  std::shared_ptr<const RuleSet> rules;
  std::shared_ptr<const ExternalHandlers> external_handlers;
  FaultInjector faults;
};

class Instance final : public InstanceCore {
 public:
  static constexpr std::size_t kMaximumSavepoints = 64;

  explicit Instance(std::shared_ptr<const World> world, InstanceOptions options = {});

  // REQUIRES: nothing; any text may come from a peer.
  Response Handle(const Request& request);

  // Returns the answer to a request whose response asked for an external handler, now that the
  // handler has replied or failed. Other calls may have been made in between.
  Response Complete(const ExternalCall& call, absl::StatusOr<ExternalReply> reply);

  // Rules and external handlers stay through Reset. Null means none.
  void SetRules(std::shared_ptr<const RuleSet> rules) { rules_ = std::move(rules); }
  const std::shared_ptr<const RuleSet>& rules() const { return rules_; }
  void SetExternalHandlers(std::shared_ptr<const ExternalHandlers> handlers) {
    external_handlers_ = std::move(handlers);
  }
  const std::shared_ptr<const ExternalHandlers>& external_handlers() const {
    return external_handlers_;
  }
  // Sets the faults from now on. Their counts restart here and with Reset. Null means none.
  void SetFaults(std::shared_ptr<const FaultSet> faults);
  const std::shared_ptr<const FaultSet>& faults() const { return faults_.faults(); }

  // Saves the instance as it is, replacing an earlier savepoint of that name. A savepoint lives as
  // long as the instance, also through Reset, and costs as much as a copy of InstanceState. Returns
  // INVALID_ARGUMENT for a name that is not 1 to 64 letters, digits, '-', '_' and '.', and
  // RESOURCE_EXHAUSTED past kMaximumSavepoints.
  absl::Status Save(std::string name);
  // Goes back to a savepoint: the same calls then get the same answers as from the saved instance.
  // The dates of a real clock continue, and requests that wait for an external handler are answered
  // with 503. Returns NOT_FOUND when there is no such savepoint.
  absl::Status Restore(std::string_view name);
  // Drops a savepoint. Returns false when there is none.
  bool Forget(std::string_view name);
  const std::map<std::string, Savepoint, std::less<>>& savepoints() const { return savepoints_; }

  // Returns to the world's state and then performs `start` in order. Collateral is measured from
  // the result, and milestones that hold there are latched. History, clock and watch restart. The
  // requests of a start have an administrator's rights, and time passes until their work is done.
  //
  // Returns NOT_FOUND for a start of a resource that the world lacks, INVALID_ARGUMENT for a
  // pointer that leads nowhere, and FAILED_PRECONDITION for a request that is refused; the instance
  // then has neither changes nor a watch.
  absl::Status Reset(std::span<const redfish::StartOperation> start = {},
                     std::optional<redfish::Watch> watch = {});

  // From now on judges `watch`: side effects are measured from here, and milestones that hold are
  // latched. State, history and clock go on.
  void BeginWatch(std::optional<redfish::Watch> watch);

  // Moves the virtual clock and completes the work that was due. A negative duration counts as 0.
  void Advance(std::chrono::milliseconds by);

  // With EventDelivery::kPush, returns the events to send now. Each is handed out once, and its
  // outcome must be reported by ReportDelivery. Outcomes of deliveries from before a Reset are
  // ignored.
  std::vector<Delivery> TakeDeliveries();
  void ReportDelivery(std::uint64_t number, bool delivered);
  // Returns the next text of a stream that Response::event_stream named, or nothing once the stream
  // has ended.
  std::optional<std::string> TakeStreamText(std::uint64_t stream);
  void CloseStream(std::uint64_t stream);
  // Returns whether there may be deliveries or stream text to take.
  bool HasEventsToSend();

  // Evaluates the watch and latches milestones. Everything is false and zero without a watch. A
  // call is cheap when nothing has changed.
  redfish::Progress Evaluate();
  // Does the same for a watch that the instance does not have, and latches into `progress`.
  void EvaluateOther(const redfish::Watch& watch, redfish::Progress& progress) const;
  bool has_watch() const { return watch_.has_value(); }

  bool HasPassword(std::string_view uri, std::string_view name,
                   std::string_view password) const override;

 private:
  // That a request is to become a task.
  struct Later {
    std::chrono::milliseconds duration;
    // Set where it became one.
    bool is_task = false;
  };
  // Handles a request that no fault strikes, or one that `later`, unless null, makes a task.
  // REQUIRES: `uri` is canonical.
  Response Serve(const Request& request, std::string_view uri, Later* later = nullptr);
  Response ServeStruck(const Request& request, std::string_view uri, const Strikes& strikes);
  void RecordFault(const Fault& fault, Method method, std::string_view uri, std::uint64_t number);

  // The functions from here on answer for `principal`, the user who asks, or null where users need
  // not log in.
  // Answers by a task where the request would succeed at once.
  Response AnswerLater(const Request& request, std::string_view uri, const Principal* principal,
                       Later& later);
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
  // Gives the bodies of captured resources that this episode has changed to the pool.
  void GiveTreesBack();
  absl::Status PerformStart(const redfish::StartOperation& operation);
  std::int64_t CountCollateral();
  // Counts the members that came or went where `watch` does not allow it.
  std::int64_t CountMembers(const redfish::Watch& watch) const;

  std::shared_ptr<const RuleSet> rules_;
  std::shared_ptr<const ExternalHandlers> external_handlers_;
  FaultInjector faults_;
  std::map<std::string, Savepoint, std::less<>> savepoints_;
};

}  // namespace shoal::mockserver
