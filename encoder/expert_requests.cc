// SPDX-License-Identifier: Apache-2.0
#include "encoder/expert_requests.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "redfish/capture/uri.h"

namespace shoal::encoder {
namespace {

using nlohmann::json;

constexpr const char* kMembers = "Members";
constexpr const char* kLink = "@odata.id";

class RememberedService final : public redfish::PlanClient {
 public:
  explicit RememberedService(const redfish::Capture& capture) : capture_(capture) {}

  redfish::PlanReply Send(const redfish::PlanRequest& request) override {
    const std::string uri = redfish::CanonicalUri(request.uri);
    const json* const known = Find(uri);
    if (request.method == "GET") {
      return known == nullptr ? Reply(404) : redfish::PlanReply{200, *known, "", ""};
    }
    requests_.push_back(request);
    requests_.back().uri = uri;
    if (request.method == "POST") return Post(uri, known, request.body);
    if (known == nullptr) return Reply(404);
    if (request.method == "DELETE") {
      changed_[uri] = nullptr;
      return Reply(204);
    }
    json merged = *known;
    if (request.body.is_object()) merged.merge_patch(request.body);
    changed_[uri] = std::move(merged);
    return Reply(200);
  }

  void Wait(std::chrono::seconds) override {}

  void Apply(const redfish::StartOperation& operation) {
    if (!operation.method.empty()) {
      (void)Send({operation.method, operation.uri, operation.value, ""});
      return;
    }
    const std::string uri = redfish::CanonicalUri(operation.uri);
    const json* const known = Find(uri);
    if (known == nullptr) return;
    json body = *known;
    redfish::Assign(body, operation.pointer, operation.value);
    changed_[uri] = std::move(body);
  }

  std::vector<redfish::PlanRequest> TakeRequests() { return std::exchange(requests_, {}); }

 private:
  static redfish::PlanReply Reply(int status) { return {status, json(), "", ""}; }

  // Returns null for a resource that is not there. The pointer is valid until the next change.
  const json* Find(const std::string& uri) const {
    const auto changed = changed_.find(uri);
    if (changed == changed_.end()) return capture_.Find(uri);
    return changed->second.is_null() ? nullptr : &changed->second;
  }

  redfish::PlanReply Post(const std::string& uri, const json* known, const json& body) {
    if (known == nullptr || !known->contains(kMembers) || !known->at(kMembers).is_array()) {
      return Reply(204);
    }
    const std::string member = uri + "/made" + std::to_string(++made_);
    json collection = *known;
    collection[kMembers].push_back({{kLink, member}});
    changed_[uri] = std::move(collection);
    json made = body.is_object() ? body : json::object();
    made[kLink] = member;
    changed_[member] = made;
    return {201, std::move(made), member, "token"};
  }

  const redfish::Capture& capture_;
  // The resources that are not as in the capture; a null is a resource that was deleted.
  std::map<std::string, json> changed_;
  std::vector<redfish::PlanRequest> requests_;
  int made_ = 0;
};

bool IsSlotText(const json& value) {
  return value.is_string() && value.get_ref<const std::string&>().starts_with("<goal.");
}

bool Offers(const json& offered, const json& asked, bool may_have_more) {
  if (IsSlotText(offered)) return true;
  if (offered.is_array() && offered.size() == 1 && IsSlotText(offered[0])) return asked.is_array();
  if (!offered.is_object() || !asked.is_object()) return offered == asked;
  if (!may_have_more && offered.size() != asked.size()) return false;
  return std::ranges::all_of(asked.items(), [&](const auto& member) {
    const auto found = offered.find(member.key());
    return found != offered.end() && Offers(*found, member.value(), may_have_more);
  });
}

absl::StatusOr<std::vector<redfish::PlanRequest>> RequestsOf(redfish::Plan plan,
                                                             const redfish::Capture& capture,
                                                             const redfish::Episode& episode) {
  SHOAL_RETURN_IF_ERROR(redfish::CheckPlan(plan));
  RememberedService service(capture);
  for (const redfish::StartOperation& operation : episode.start) service.Apply(operation);
  (void)service.TakeRequests();
  std::erase_if(plan, [](const json& step) { return step.contains("until"); });
  // A refusal ends the plan; what was asked for until then counts.
  (void)redfish::RunPlan(plan, service, {.attempts = 1, .looks = 1});
  return service.TakeRequests();
}

// Returns the length of the longest list of choices in `plan`; 0 without one.
std::size_t MostChoices(const redfish::Plan& plan) {
  std::size_t most = 0;
  for (const json& step : plan) {
    for (const json& choices : step.value("one_of", json::object())) {
      most = std::max(most, choices.size());
    }
  }
  return most;
}

// Moves the first of each list of choices to its end, so that another one is the first allowed.
void TurnChoices(redfish::Plan& plan) {
  for (json& step : plan) {
    const auto lists = step.find("one_of");
    if (lists == step.end()) continue;
    for (json& choices : *lists) std::rotate(choices.begin(), choices.begin() + 1, choices.end());
  }
}

}  // namespace

bool IsLike(const redfish::Candidate& candidate, const redfish::PlanRequest& asked) {
  const auto body = [](const json& given) { return given.is_null() ? json::object() : given; };
  return candidate.method == asked.method && candidate.uri == asked.uri &&
         Offers(body(candidate.body), body(asked.body), asked.method == "POST");
}

absl::StatusOr<std::vector<redfish::PlanRequest>> ExpertRequests(const redfish::Capture& capture,
                                                                 const redfish::AppliedGoal& goal,
                                                                 const redfish::Episode& episode) {
  return RequestsOf(goal.PlanOf(episode), capture, episode);
}

absl::StatusOr<std::vector<redfish::PlanRequest>> RequestsOnTheWay(
    const redfish::Capture& capture, const redfish::AppliedGoal& goal,
    const redfish::Episode& episode) {
  redfish::Plan plan = goal.PlanOf(episode);
  SHOAL_ASSIGN_OR_RETURN(std::vector<redfish::PlanRequest> all, RequestsOf(plan, capture, episode));
  for (std::size_t turns = MostChoices(plan); turns > 1; --turns) {
    TurnChoices(plan);
    SHOAL_ASSIGN_OR_RETURN(std::vector<redfish::PlanRequest> more,
                           RequestsOf(plan, capture, episode));
    std::ranges::move(more, std::back_inserter(all));
  }
  return all;
}

}  // namespace shoal::encoder
