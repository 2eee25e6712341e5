// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/seen_resources.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "redfish/capture/uri.h"
#include "redfish/catalog/candidate_generator.h"
#include "redfish/goals/plan.h"

namespace shoal::actor {
namespace {

using inference::client::CandidateList;
using inference::client::ContentReference;

bool IsOfService(const std::string& uri) {
  return redfish::IsAtOrBelow(uri, redfish::kServiceRoot);
}

redfish::Candidate GetOf(const std::string& uri, std::string type,
                         std::span<const std::string> names) {
  redfish::Candidate get;
  get.method = "GET";
  get.uri = uri;
  get.told_uri = redfish::UriWithoutNames(uri, names);
  get.resource = uri;
  get.type = std::move(type);
  get.Seal();
  return get;
}

}  // namespace

void SeenResources::Begin(const ServiceCatalog& service, std::vector<std::string> names) {
  service_ = &service;
  names_ = std::move(names);
  resources_.clear();
  lost_.clear();
  appended_.clear();
  list_ = service.candidates;
}

void SeenResources::Learn(const redfish::Candidate& request, const ServiceResponse& response,
                          const BodyText& text) {
  Take(request, response, text);
  if (std::exchange(changed_, false)) MakeList();
}

void SeenResources::Learn(std::span<const ReadAnswer> answers) {
  for (const ReadAnswer& answer : answers) Take(answer.request, answer.response, *answer.text);
  if (std::exchange(changed_, false)) MakeList();
}

void SeenResources::Take(const redfish::Candidate& request, const ServiceResponse& response,
                         const BodyText& text) {
  const int status = response.status;
  const bool of_resource = request.action.empty() && !request.uri.empty();
  const bool succeeded = status >= 200 && status < 300;
  // A DELETE that is accepted (202) takes effect later.
  const bool deleted = request.method == "DELETE" && succeeded && status != 202;
  // Copied, as Lose may destroy `request`.
  const std::string uri = redfish::CanonicalUri(request.uri);
  if (of_resource && (status == 404 || deleted)) Lose(uri);
  if (succeeded && !deleted) {
    if (IsOfService(text.uri)) SeeResource(response, text);
    for (const std::string& member : text.members) SeeMember(text.uri, member);
  }
}

void SeenResources::Lose(const std::string& uri) {
  const auto below = [&uri](const auto& resource) {
    return redfish::IsAtOrBelow(resource.first, uri);
  };
  changed_ = std::erase_if(resources_, below) > 0 || changed_;
  if (service_->catalog->outline().Has(uri)) changed_ = lost_.insert(uri).second || changed_;
}

void SeenResources::SeeMember(const std::string& collection, const std::string& uri) {
  const redfish::ServiceOutline& outline = service_->catalog->outline();
  if (lost_.erase(uri) > 0) changed_ = true;
  if (!IsOfService(uri) || outline.Has(uri) || outline.IsDangling(uri) || !HasRoom(uri)) return;
  std::string type = outline.MemberType(collection);
  if (resources_.contains(uri) || !redfish::IsOperationalType(type)) return;
  resources_[uri].candidates = std::make_shared<const std::vector<redfish::Candidate>>(
      1, GetOf(uri, std::move(type), names_));
  changed_ = true;
}

void SeenResources::SeeResource(const ServiceResponse& response, const BodyText& text) {
  const redfish::ServiceOutline& outline = service_->catalog->outline();
  if (lost_.erase(text.uri) > 0) changed_ = true;
  if (outline.Has(text.uri) || !HasRoom(text.uri)) return;
  const auto known = resources_.find(text.uri);
  if (known != resources_.end() && known->second.body == text.content.key) return;
  Candidates candidates = made_->Of(*service_, response, text, names_);
  if (candidates == nullptr) return;
  resources_[text.uri] = {.candidates = std::move(candidates), .body = text.content.key};
  changed_ = true;
}

bool SeenResources::HasRoom(const std::string& uri) const {
  return resources_.size() < kMaximumResources || resources_.contains(uri);
}

void SeenResources::MakeList() {
  std::vector<std::uint32_t> removed;
  const auto& own = service_->catalog->candidates();
  for (std::size_t i = 0; i < own.size() && !lost_.empty(); ++i) {
    const bool gone = std::any_of(lost_.begin(), lost_.end(), [&](const std::string& uri) {
      return redfish::IsAtOrBelow(own[i].expands() ? own[i].resource : own[i].uri, uri);
    });
    if (gone) removed.push_back(static_cast<std::uint32_t>(i));
  }
  std::vector<ContentReference> texts;
  appended_.clear();
  for (auto& [uri, resource] : resources_) {
    resource.first = appended_.size();
    for (const redfish::Candidate& candidate : *resource.candidates) {
      appended_.push_back(&candidate);
      texts.push_back(
          {.key = candidate.key,
           .text = std::shared_ptr<const std::string>(resource.candidates, &candidate.text)});
    }
  }
  list_ = removed.empty() && texts.empty()
              ? service_->candidates
              : std::make_shared<const CandidateList>(service_->candidates, std::move(removed),
                                                      std::move(texts));
}

const redfish::Candidate& SeenResources::candidate(std::size_t action) const {
  const auto& own = service_->catalog->candidates();
  return action < own.size() ? own[action] : *appended_[action - own.size()];
}

bool SeenResources::IsOfCatalog(const redfish::Candidate& candidate) const {
  const auto& own = service_->catalog->candidates();
  return &candidate >= own.data() && &candidate < own.data() + own.size();
}

bool SeenResources::IsLegal(std::size_t action) const {
  const auto& removed = list_->removed();
  return !std::binary_search(removed.begin(), removed.end(), action);
}

std::int64_t SeenResources::Find(const redfish::PlanRequest& request) const {
  const auto& own = service_->catalog->candidates();
  for (const bool composes : {false, true}) {
    const std::int64_t known = redfish::FindCandidate(own, request, composes);
    if (known >= 0 && IsLegal(static_cast<std::size_t>(known))) return known;
    const std::int64_t came = redfish::FindCandidate(appended_, request, composes);
    if (came >= 0) return came + static_cast<std::int64_t>(own.size());
  }
  return -1;
}

}  // namespace shoal::actor
