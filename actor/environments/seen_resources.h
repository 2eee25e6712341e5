// SPDX-License-Identifier: Apache-2.0
// The list of actions of an episode: the service's catalog, adjusted by the resources that the
// episode has seen come and go.
//
// An answer shows the resource in its body, and a collection also shows its members. A resource
// that the catalog lacks gets a GET at once, and all its candidates when its own body was seen. A
// resource that was deleted, or is answered with 404, loses its candidates and those of everything
// below it, also those of the catalog, until it is seen again.
//
// The list is the catalog's own while nothing differs, otherwise an overlay on it. Appended
// candidates are in the order of their URIs, so the same answers give the same key in whichever
// order and environment they were seen, and tables are shared. Not thread-safe.
//
// A resource that came may have a name of the goal in its URI, as an account does on some services.
// The texts of its candidates tell that name by its number, as their marks do: its letters differ
// in every episode and say nothing. URIs of the catalog are told as they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "actor/environments/body_texts.h"
#include "actor/environments/expanded_answer.h"
#include "actor/environments/redfish_service.h"
#include "actor/environments/resource_candidates.h"
#include "actor/environments/service_catalog.h"
#include "inference/client/row.h"
#include "platform/content/content_key.h"
#include "redfish/catalog/candidate.h"
#include "redfish/goals/plan.h"

namespace shoal::actor {

class SeenResources {
 public:
  // The most resources beyond the catalog. Any more are not offered.
  static constexpr std::size_t kMaximumResources = 64;

  // `made` caches the candidates and outlives this.
  explicit SeenResources(ResourceCandidates& made) : made_(&made) {}

  // Begins an episode and forgets what was seen. `service` outlives the episode. `names` are the
  // goal's (redfish::NamesOf).
  void Begin(const ServiceCatalog& service, std::vector<std::string> names);

  // Takes in that `request` was answered with `response`, whose body `text` describes.
  void Learn(const redfish::Candidate& request, const ServiceResponse& response,
             const BodyText& text);

  // Takes in the answers of which one that expands a collection consists, as if each had come
  // alone.
  void Learn(std::span<const ReadAnswer> answers);

  const std::shared_ptr<const inference::client::CandidateList>& list() const { return list_; }
  // The reference is valid until the next Learn or Begin. REQUIRES: action < list()->size().
  const redfish::Candidate& candidate(std::size_t action) const;
  // Whether the action may be chosen: its candidate was not removed. REQUIRES: action <
  // list()->size().
  bool IsLegal(std::size_t action) const;
  // Calls `visit(action, candidate)` for each candidate of the list that is a request to the
  // resource at `uri`, removed ones included, in ascending order.
  template <typename Visit>
  void ForEachOf(const std::string& uri, const Visit& visit) const {
    for (const std::uint32_t index : service_->catalog->OfResource(uri)) {
      visit(std::size_t{index}, service_->catalog->candidates()[index]);
    }
    const auto came = resources_.find(uri);
    if (came == resources_.end()) return;
    std::size_t action = service_->catalog->size() + came->second.first;
    for (const redfish::Candidate& candidate : *came->second.candidates) {
      visit(action++, candidate);
    }
  }
  // Returns the first legal action that sends `request`, perhaps after its slots got values, or
  // else one that composes requests with its method and URI, or -1 when there is none.
  std::int64_t Find(const redfish::PlanRequest& request) const;
  const redfish::Catalog& catalog() const { return *service_->catalog; }
  // Whether the candidate, one of this list's, belongs to the catalog.
  bool IsOfCatalog(const redfish::Candidate& candidate) const;

 private:
  using Candidates = ResourceCandidates::Pointer;
  struct Resource {
    Candidates candidates;
    // Key of the body that the candidates were made from, or zero before a body was seen.
    content::ContentKey body = {};
    // The place of its first candidate among those that the list appends.
    std::size_t first = 0;
  };

  void Take(const redfish::Candidate& request, const ServiceResponse& response,
            const BodyText& text);
  void Lose(const std::string& uri);
  void SeeMember(const std::string& collection, const std::string& uri);
  void SeeResource(const ServiceResponse& response, const BodyText& text);
  // Whether `uri` is known already or there is room for another resource.
  bool HasRoom(const std::string& uri) const;
  void MakeList();

  ResourceCandidates* made_;
  const ServiceCatalog* service_ = nullptr;
  std::vector<std::string> names_;
  std::map<std::string, Resource> resources_;
  std::set<std::string> lost_;
  bool changed_ = false;
  std::shared_ptr<const inference::client::CandidateList> list_;
  // The list's candidates after those of the catalog, in order.
  std::vector<const redfish::Candidate*> appended_;
};

}  // namespace shoal::actor
