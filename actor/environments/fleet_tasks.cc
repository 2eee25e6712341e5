// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/fleet_tasks.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "platform/content/canonical_json.h"
#include "redfish/capture/landmarks.h"
#include "redfish/capture/uri.h"
#include "redfish/goals/plan.h"

namespace shoal::actor {
namespace {

using Json = nlohmann::json;
using inference::client::CandidateList;
using inference::client::ContentReference;

constexpr std::int64_t kUsualWatts = 500;
// The most candidates of one list that inference takes.
constexpr std::size_t kMaximumCandidates = std::size_t{1} << 20;

ContentReference CandidateOf(const redfish::Candidate& candidate, std::size_t member) {
  Json json = Json::parse(candidate.text);
  json["host"] = MemberName(member);
  return inference::client::ContentOf(content::CanonicalJson(json));
}

absl::StatusOr<FleetCatalog> MakeCatalog(const redfish::Capture& capture,
                                         const ServiceCatalog& service, std::size_t members) {
  const std::vector<redfish::Candidate>& own = service.catalog->candidates();
  FleetCatalog fleet;
  fleet.actions = own.size();
  fleet.wait = redfish::FindWait(own);
  fleet.system = redfish::FindLandmarks(capture).system;
  fleet.watts = DrawnWatts(capture);
  const Json* const system = capture.Find(fleet.system);
  if (system == nullptr || !system->contains("PowerState") || fleet.wait < 0) {
    return runtime::InvalidArgument("a fleet of " + capture.name() + ": no PowerState to watch");
  }
  if (own.size() > kMaximumCandidates / members) {
    return runtime::InvalidArgument("a fleet of " + std::to_string(members) + " " + capture.name() +
                                    " has more than " + std::to_string(kMaximumCandidates) +
                                    " candidates");
  }
  std::vector<ContentReference> candidates;
  for (std::size_t member = 0; member < members; ++member) {
    for (const redfish::Candidate& candidate : own) {
      candidates.push_back(CandidateOf(candidate, member));
    }
  }
  const redfish::Candidate& wait = own[static_cast<std::size_t>(fleet.wait)];
  candidates.push_back({.key = wait.key, .text = std::make_shared<const std::string>(wait.text)});
  fleet.candidates = std::make_shared<const CandidateList>(std::move(candidates));
  return fleet;
}

}  // namespace

std::string MemberName(std::size_t member) { return "node-" + std::to_string(member + 1); }

std::int64_t DrawnWatts(const redfish::Capture& capture) {
  const Json* const chassis = capture.Find(redfish::FindLandmarks(capture).chassis);
  const Json* const link = chassis == nullptr ? nullptr : redfish::Resolve(*chassis, "/Power");
  const Json* const power = link == nullptr ? nullptr : capture.Find(redfish::LinkTarget(*link));
  const Json* const watts =
      power == nullptr ? nullptr : redfish::Resolve(*power, "/PowerControl/0/PowerConsumedWatts");
  const double drawn = watts != nullptr && watts->is_number() ? watts->get<double>() : 0.0;
  const bool is_sane = drawn >= 1.0 && drawn < 1e6;
  return is_sane ? std::llround(drawn) : kUsualWatts;
}

absl::StatusOr<std::shared_ptr<const FleetTasks>> MakeFleetTasks(const RedfishData& data) {
  if (!data.tasks->options.ablate.empty()) {
    return runtime::InvalidArgument("environment.ablate: a fleet's agent sees all there is");
  }
  auto fleet = std::make_shared<FleetTasks>();
  fleet->tasks = data.tasks;
  const auto members = static_cast<std::size_t>(data.tasks->options.fleet_size);
  for (const auto& [name, capture] : data.captures) {
    SHOAL_ASSIGN_OR_RETURN(fleet->catalogs[name],
                           MakeCatalog(*capture, data.tasks->catalogs.at(name), members));
  }
  for (const Pair& pair : data.tasks->pairs) {
    fleet->pairs.push_back(
        {.goal = pair.goal + " x" + std::to_string(members), .capture = pair.capture});
  }
  return std::shared_ptr<const FleetTasks>(std::move(fleet));
}

}  // namespace shoal::actor
