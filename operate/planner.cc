// SPDX-License-Identifier: Apache-2.0
#include "operate/planner.h"

#include <set>
#include <string>
#include <utility>

#include "redfish/capture/uri.h"

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

// The most times that a plan is made anew because the host differs from what it was made for.
constexpr int kRounds = 12;

// The password of the twin's accounts: the one that the goal uses first.
std::string AccountPassword(const redfish::Values& values) {
  for (const char* name : {"other:Password", "Password"}) {
    const auto found = values.find(name);
    if (found != values.end() && found->second.is_string()) return found->second;
  }
  return "";
}

}  // namespace

absl::StatusOr<Announcement> Planner::Plan(Host& host, const redfish::Capture& capture,
                                           const GoalChoice& choice) {
  SHOAL_ASSIGN_OR_RETURN(const auto goal, FindGoal(suite_, choice.goal));
  SHOAL_ASSIGN_OR_RETURN(const auto applied, redfish::AppliedGoal::Create(
                                                 goal, capture, suite_, redfish::Starts::kPresent));
  SHOAL_ASSIGN_OR_RETURN(redfish::Episode episode, applied->EpisodeWith(choice.values));
  episode.text = choice.sentence;
  const Json& predicate = episode.watch.value().predicate().json();
  const TwinOptions options = {.account_password = AccountPassword(choice.values),
                               .asked = AskedBy(predicate),
                               .watch = episode.watch};
  Announcement announcement = {.host = host.name(),
                               .goal = goal->name(),
                               .sentence = choice.sentence,
                               .values = choice.values,
                               .solver = solver_.name(),
                               .predicate = predicate};
  redfish::Capture::Resources resources = capture.resources();
  std::set<std::string> fresh;
  absl::Status failure;
  for (int round = 0; round < kRounds; ++round) {
    SHOAL_ASSIGN_OR_RETURN(auto present,
                           redfish::Capture::FromResources(capture.name(), resources));
    SHOAL_ASSIGN_OR_RETURN(const auto twin, Twin::Create(std::move(present), schema_, options));
    failure = SolveOn(*twin, *applied, episode, announcement);
    SHOAL_ASSIGN_OR_RETURN(const bool has_changed,
                           Refresh(host, twin->touched(), fresh, resources));
    if (has_changed) continue;
    if (failure.ok()) return announcement;
    return runtime::FailedPrecondition("the twin of " + host.name() +
                                       " does not reach the goal: " + runtime::Message(failure));
  }
  return runtime::Unavailable(host.name() + " changes faster than it can be read");
}

absl::Status Planner::SolveOn(Twin& twin, const redfish::AppliedGoal& goal,
                              const redfish::Episode& episode, Announcement& announcement) {
  announcement.steps.clear();
  announcement.history.clear();
  const redfish::Predicate& predicate = episode.watch.value().predicate();
  if (predicate.Evaluate(twin)) return absl::OkStatus();
  const absl::Status solved = solver_.Solve(goal, episode, twin);
  announcement.steps = twin.TakeSteps();
  announcement.history = twin.history();
  SHOAL_RETURN_IF_ERROR(solved);
  if (predicate.Evaluate(twin)) return absl::OkStatus();
  return runtime::FailedPrecondition("every request is done, and the goal does not hold");
}

absl::StatusOr<bool> Planner::Refresh(Host& host, const std::set<std::string>& uris,
                                      std::set<std::string>& fresh,
                                      redfish::Capture::Resources& resources) {
  bool has_changed = false;
  for (const std::string& uri : uris) {
    const bool is_resource = redfish::IsAtOrBelow(uri, redfish::kServiceRoot) &&
                             uri.find("/Actions/") == std::string::npos;
    if (!is_resource || !fresh.insert(uri).second) continue;
    SHOAL_ASSIGN_OR_RETURN(const HostAnswer answer, host.Get(uri));
    const auto known = resources.find(uri);
    if (answer.status == 200 && answer.body.is_object()) {
      if (known != resources.end() && known->second == answer.body) continue;
      resources[uri] = answer.body;
      has_changed = true;
    } else if ((answer.status == 404 || answer.status == 410) && known != resources.end()) {
      resources.erase(known);
      has_changed = true;
    } else if (answer.status != 200 && answer.status != 404 && answer.status != 410) {
      return runtime::FailedPrecondition("GET " + uri + " is " + std::to_string(answer.status) +
                                         ": what the host holds is not known");
    }
  }
  return has_changed;
}

}  // namespace shoal::operate
