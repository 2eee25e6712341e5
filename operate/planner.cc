// SPDX-License-Identifier: Apache-2.0
#include "operate/planner.h"

#include <set>
#include <string>
#include <utility>

#include "operate/shortening.h"
#include "redfish/capture/uri.h"

namespace shoal::operate {
namespace {

using Json = nlohmann::json;

// The most times that a plan is made anew because the host differs from what it was made for.
constexpr int kRounds = 12;

// The password of the twin's accounts: the one that the goals use first.
std::string AccountPassword(const Wish& wish) {
  for (const GoalChoice& choice : wish.goals) {
    for (const char* name : {"other:Password", "Password"}) {
      const auto found = choice.values.find(name);
      if (found != choice.values.end() && found->second.is_string()) return found->second;
    }
  }
  return "";
}

}  // namespace

absl::StatusOr<std::vector<Planner::Stage>> Planner::StagesOf(const redfish::Capture& capture,
                                                              const Wish& wish) const {
  std::vector<Stage> stages;
  for (const GoalChoice& choice : wish.goals) {
    SHOAL_ASSIGN_OR_RETURN(const auto goal, FindGoal(suite_, choice.goal));
    SHOAL_ASSIGN_OR_RETURN(auto applied, redfish::AppliedGoal::Create(goal, capture, suite_,
                                                                      redfish::Starts::kPresent));
    SHOAL_ASSIGN_OR_RETURN(redfish::Episode episode, applied->EpisodeWith(choice.values));
    episode.text = choice.sentence;
    redfish::Predicate wanted = episode.watch.value().predicate();
    if (!choice.targets.empty()) {
      SHOAL_ASSIGN_OR_RETURN(wanted, applied->RequirementWith(choice.values, choice.targets));
    }
    stages.push_back(
        {std::move(applied), std::move(episode), std::move(wanted), choice.targets.empty()});
  }
  return stages;
}

absl::StatusOr<Announcement> Planner::Plan(Host& host, const redfish::Capture& capture,
                                           const Wish& wish) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<Stage> stages, StagesOf(capture, wish));
  Json predicate = {{"all", Json::array()}};
  for (const Stage& stage : stages) {
    for (const Json& condition : stage.wanted.json().at("all")) {
      predicate["all"].push_back(condition);
    }
  }
  const TwinOptions options = {.account_password = AccountPassword(wish),
                               .asked = AskedBy(predicate)};
  Announcement announcement = {.host = host.name(),
                               .goal = NameOf(wish),
                               .sentence = wish.sentence,
                               .values = ValuesOf(wish),
                               .solver = solver_.name(),
                               .predicate = std::move(predicate)};
  const bool is_whole = stages.size() == 1 && stages.front().is_whole;
  redfish::Capture::Resources resources = capture.resources();
  std::set<std::string> fresh;
  absl::Status failure;
  for (int round = 0; round < kRounds; ++round) {
    SHOAL_ASSIGN_OR_RETURN(const auto present,
                           redfish::Capture::FromResources(capture.name(), resources));
    SHOAL_ASSIGN_OR_RETURN(const auto twin, Twin::Create(present, schema_, options));
    failure = SolveOn(*twin, stages, announcement);
    SHOAL_ASSIGN_OR_RETURN(bool has_changed, Refresh(host, twin->touched(), fresh, resources));
    if (!has_changed && failure.ok() && !is_whole) {
      SHOAL_ASSIGN_OR_RETURN(const auto trial, Twin::Create(present, schema_, options));
      SHOAL_RETURN_IF_ERROR(LeaveOutNeedless(*trial, stages, announcement));
      SHOAL_ASSIGN_OR_RETURN(has_changed, Refresh(host, trial->touched(), fresh, resources));
    }
    if (has_changed) continue;
    if (failure.ok()) return announcement;
    return runtime::FailedPrecondition("the twin of " + host.name() +
                                       " does not reach the goal: " + runtime::Message(failure));
  }
  return runtime::Unavailable(host.name() + " changes faster than it can be read");
}

absl::Status Planner::SolveOn(Twin& twin, const std::vector<Stage>& stages,
                              Announcement& announcement) {
  announcement.steps.clear();
  announcement.history.clear();
  // A goal that another one undid is solved again after it.
  const int turns = stages.size() > 1 ? 2 : 1;
  for (int turn = 0; turn < turns; ++turn) {
    for (const Stage& stage : stages) {
      if (stage.wanted.Evaluate(twin)) continue;
      const absl::Status solved = Solve(twin, stage, stages.size() > 1, announcement.steps);
      announcement.history = twin.history();
      SHOAL_RETURN_IF_ERROR(solved);
    }
  }
  for (const Stage& stage : stages) {
    if (stage.wanted.Evaluate(twin)) continue;
    return runtime::FailedPrecondition(stages.size() == 1
                                           ? "every request is done, and the goal does not hold"
                                           : "the other goals undo " + stage.goal->goal().name() +
                                                 ", so they cannot hold together");
  }
  return absl::OkStatus();
}

absl::Status Planner::Solve(Twin& twin, const Stage& stage, bool is_one_of_several,
                            std::vector<Step>& steps) {
  SHOAL_RETURN_IF_ERROR(twin.BeginStage(stage.episode.watch, steps));
  absl::Status solved = solver_.Solve(*stage.goal, stage.episode, twin);
  if (solved.ok() && !stage.is_whole) {
    solved = Shorten(twin.TakeSteps(), stage.wanted, twin).status();
  }
  if (is_one_of_several) {
    // What the last request has begun is to be done before the next goal.
    twin.Wait(kSettles);
    if (!solved.ok()) solved = runtime::Annotate(solved, stage.goal->goal().name());
  }
  const std::size_t first = steps.size();
  for (Step& step : twin.TakeSteps()) {
    if (step.session) *step.session += first;
    steps.push_back(std::move(step));
  }
  return solved;
}

absl::Status Planner::LeaveOutNeedless(Twin& trial, const std::vector<Stage>& stages,
                                       Announcement& announcement) {
  Json allowed = Json::array();
  for (const Stage& stage : stages) {
    const Json watch = stage.episode.watch.value().ToJson();
    allowed.insert(allowed.end(), watch.at("allowed").begin(), watch.at("allowed").end());
  }
  SHOAL_ASSIGN_OR_RETURN(redfish::Watch watch,
                         redfish::Watch::Parse({{"predicate", announcement.predicate},
                                                {"milestones", Json::array()},
                                                {"allowed", std::move(allowed)}}));
  const redfish::Predicate wanted = watch.predicate();
  SHOAL_RETURN_IF_ERROR(trial.BeginStage(std::move(watch), {}));
  const absl::Status shortened = Shorten(announcement.steps, wanted, trial).status();
  if (absl::IsFailedPrecondition(shortened)) return absl::OkStatus();
  SHOAL_RETURN_IF_ERROR(shortened);
  if (trial.Evaluate().collateral > 0) return absl::OkStatus();
  announcement.steps = trial.TakeSteps();
  announcement.history = trial.history();
  return absl::OkStatus();
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
