// SPDX-License-Identifier: Apache-2.0
// A simulated service in the present state of a host, on which a plan is tried first.
//
// A solver sends its requests to the twin, which notes each request that may change something, with
// the answer and with everything that differs before the next such request. Time on the twin is
// virtual. Several goals are reached stage by stage, each from where the one before it ended. Not
// thread-safe.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/instance/instance.h"
#include "operate/step.h"
#include "platform/runtime/status.h"
#include "redfish/capture/capture.h"
#include "redfish/goals/plan.h"
#include "redfish/goals/predicate.h"
#include "redfish/goals/situation.h"
#include "redfish/goals/watch.h"
#include "redfish/schema/schema.h"

namespace shoal::operate {

// Longer than a change of power or a task takes on a twin.
inline constexpr std::chrono::seconds kSettles{10};

struct TwinOptions {
  // The password with which the accounts of the twin log in. A host does not show passwords, so
  // the twin takes the one that the goal is about.
  std::string account_password = {};
  // The properties that the goals ask about, which matter beside the writable ones. An empty URI
  // means any resource.
  std::set<redfish::PropertyPath> asked = {};
  // What Evaluate judges in the first stage.
  std::optional<redfish::Watch> watch = std::nullopt;
};

// Returns the properties that a predicate compares.
std::set<redfish::PropertyPath> AskedBy(const nlohmann::json& predicate);

class Twin final : public redfish::PlanClient, public redfish::StateView {
 public:
  // FAILED_PRECONDITION when the schema knows no type of the capture.
  static absl::StatusOr<std::unique_ptr<Twin>> Create(
      std::shared_ptr<const redfish::Capture> present,
      std::shared_ptr<const redfish::Schema> schema, TwinOptions options);

  // Implement redfish::PlanClient.
  redfish::PlanReply Send(const redfish::PlanRequest& request) override;
  void Wait(std::chrono::seconds time) override;

  // Implement redfish::StateView. Find counts as a read.
  const nlohmann::json* Find(std::string_view uri) const override;
  const std::vector<redfish::HistoryRecord>& history() const override;
  bool HasPassword(std::string_view uri, std::string_view name,
                   std::string_view password) const override;

  // Ends the last step and returns those of the stage. Step::session counts from its first.
  std::vector<Step> TakeSteps();
  // Begins a stage at the present state, in which `watch` is judged. `earlier` are the steps of the
  // stages before, as TakeSteps returned them.
  absl::Status BeginStage(std::optional<redfish::Watch> watch, std::vector<Step> earlier);
  // Returns to the state in which the stage began, without steps of it. What was touched stays.
  absl::Status StartOver();
  // Judges the stage's watch on what happened in it, side effects included. All is false and zero
  // without a watch.
  redfish::Progress Evaluate() { return instance_.Evaluate(); }
  // The state of the host that the twin was made from.
  const redfish::Capture& capture() const { return world_->capture(); }
  // The URIs that were read, were requested to change, or changed. The twin is only as good as what
  // is known about these.
  const std::set<std::string>& touched() const { return touched_; }

 private:
  Twin(std::shared_ptr<const mockserver::World> world, TwinOptions options);

  // Returns the requests for what a BIOS, the settings objects, and tasks that wait show as
  // pending, of which the twin knows only the words; those that it refuses are left out.
  std::vector<redfish::StartOperation> FindPending();
  // Compares all resources with the last time, and adds what differs to the last step.
  void Close();
  void Compare(const std::string& uri, const nlohmann::json* now);
  bool Matters(const Step& step, const Effect& effect, std::string_view type) const;

  const std::shared_ptr<const mockserver::World> world_;
  const TwinOptions options_;
  mockserver::Instance instance_;
  // The steps of earlier stages, and of this one.
  std::vector<Step> earlier_;
  std::vector<Step> steps_;
  // The bodies of the resources that have changed, as they were at the last comparison; nothing
  // for one that was removed.
  std::map<std::string, std::optional<nlohmann::json>> seen_;
  // The tokens of the sessions that steps made.
  std::map<std::string, std::size_t> sessions_;
  // The URI of the task that the last step began.
  std::string task_;
  mutable std::set<std::string> touched_;
};

}  // namespace shoal::operate
