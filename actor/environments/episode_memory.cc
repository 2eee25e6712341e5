// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/episode_memory.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "platform/content/parse_json.h"
#include "redfish/capture/uri.h"
#include "redfish/goals/sentence_values.h"

namespace shoal::actor {
namespace {

bool IsSuccess(int status) { return status >= 200 && status < 300; }

}  // namespace

void EpisodeMemory::Begin(const std::string& text, const ServiceCatalog& service) {
  service_ = &service;
  goal_ = absl::AsciiStrToLower(text);
  values_ = redfish::NamesOf(text);
  resources_.clear();
  sent_.clear();
  refused_.clear();
  in_refusal_.clear();
  read_.clear();
  changes_ = 0;
}

bool EpisodeMemory::Learn(const redfish::Candidate& request, const ServiceResponse& response,
                          const BodyText& text, const SeenResources& resources) {
  const int status = response.status;
  const bool waited = request.method == redfish::kWaitMethod;
  Resource& target = resources_[request.resource];
  if (waited || (request.IsMutation() && IsSuccess(status))) {
    ++changes_;
    target.changed = !waited;
  }
  const bool is_refused = status >= 400 && status < 500;
  NoteSent(request.key, status, is_refused ? NamesInRefusal(*JsonOf(response)) : RefusalNames());
  if (IsSuccess(status) && request.method != "DELETE" && !text.uri.empty()) {
    NoteShown(response, text, resources);
  }
  return KeepRead(request, status);
}

bool EpisodeMemory::Learn(const redfish::Candidate& request, std::span<const ReadAnswer> answers,
                          const SeenResources& resources) {
  NoteSent(request.key, answers.front().response.status);
  read_.insert(request.uri);
  bool is_known = true;
  for (const ReadAnswer& answer : answers) {
    const std::string& uri = answer.request.uri;
    resources.ForEachOf(uri, [&](std::size_t, const redfish::Candidate& candidate) {
      const bool reads = candidate.method == "GET" && candidate.uri == uri;
      if (reads) NoteSent(candidate.key, answer.response.status);
    });
    if (!answer.text->uri.empty()) NoteShown(answer.response, *answer.text, resources);
    is_known = !read_.insert(uri).second && is_known;
  }
  return is_known;
}

void EpisodeMemory::NoteSent(const content::ContentKey& key, int status, RefusalNames refusal) {
  Sent& sent = sent_[key];
  const bool are_names_same = sent.refusal == refusal;
  sent = {.status = status,
          .count = sent.count + 1,
          .changes = changes_,
          .refusal = std::move(refusal)};
  if (are_names_same) return;
  refused_.clear();
  in_refusal_.clear();
  for (const auto& [other, answer] : sent_) {
    refused_.insert(answer.refusal.begin(), answer.refusal.end());
  }
}

bool EpisodeMemory::IsInRefusal(const redfish::Candidate& request,
                                const SeenResources& resources) const {
  if (refused_.empty()) return false;
  const auto known = in_refusal_.find(request.key);
  if (known != in_refusal_.end()) return known->second;
  bool is_named = HasPropertyOf(request, refused_);
  if (request.composes() && request.method == "PATCH") {
    resources.ForEachOf(request.resource, [&](std::size_t, const redfish::Candidate& other) {
      const bool is_part = other.method == "PATCH" && other.uri == request.uri;
      is_named = is_named || (is_part && HasPropertyOf(other, refused_));
    });
  }
  in_refusal_[request.key] = is_named;
  return is_named;
}

void EpisodeMemory::NoteShown(const ServiceResponse& response, const BodyText& text,
                              const SeenResources& resources) {
  Resource& shown = resources_[text.uri];
  std::vector<const redfish::Candidate*> candidates;
  resources.ForEachOf(text.uri, [&](std::size_t, const redfish::Candidate& candidate) {
    candidates.push_back(&candidate);
  });
  shown.facts = facts_->Of(*service_, response, text, candidates);
  // Another body may have other parts under the same key.
  if (shown.body.key != text.content.key) in_refusal_.clear();
  shown.body = text.content;
  shown.named = shown.facts->IsNamedIn(goal_);
  const std::size_t place = shown.facts->FindName(values_);
  shown.place = place < values_.size() ? static_cast<int>(place) : -1;
}

bool EpisodeMemory::KeepRead(const redfish::Candidate& request, int status) {
  // The session is gone, so the answers may differ now.
  if (status == 401) read_.clear();
  if (request.method == "GET") {
    // A request that failed, or was refused for now, may be answered the next time.
    const bool told = status < 300 || status == 404 || status == 410;
    return told && !read_.insert(request.uri).second;
  }
  // A refused request changes nothing, but ETags must be read again when they were dropped.
  const bool refused = status >= 400 && status < 500 && status != 412;
  if (!refused || request.method == "POST") read_.clear();
  return false;
}

nlohmann::json EpisodeMemory::HeldBy(const std::string& uri) const {
  const auto read = [this](const std::string& of) {
    const auto found = resources_.find(of);
    const bool is_known = found != resources_.end() && found->second.body.text != nullptr;
    return is_known ? content::ParseJson(*found->second.body.text) : nlohmann::json();
  };
  nlohmann::json held = read(uri);
  const auto* const attributes = service_->catalog->outline().FindAttributes(uri);
  if (attributes == nullptr || attributes->holder == uri) return held;
  const nlohmann::json holder = read(attributes->holder);
  const nlohmann::json* const in_force = redfish::Resolve(holder, "/Attributes");
  if (in_force == nullptr || !in_force->is_object()) return held;
  if (!held.is_object()) held = nlohmann::json::object();
  nlohmann::json present = *in_force;
  if (held.contains("Attributes") && held["Attributes"].is_object()) {
    present.update(held["Attributes"]);
  }
  held["Attributes"] = std::move(present);
  return held;
}

std::vector<ReadResource> EpisodeMemory::ReadResources(const std::string& target) const {
  std::vector<ReadResource> read;
  for (const auto& [uri, resource] : resources_) {
    if (resource.body.text == nullptr) continue;
    read.push_back({.shown = values_shown_->Of(*service_, *resource.body.text, resource.body.key),
                    .is_target = uri == target,
                    .is_named = resource.named,
                    .is_stale = !read_.contains(uri)});
  }
  return read;
}

std::uint32_t EpisodeMemory::BitsOf(const redfish::Candidate& candidate, std::size_t place,
                                    const Resource& resource,
                                    const SeenResources& resources) const {
  std::uint32_t bits = 0;
  const bool is_known = resource.facts != nullptr;
  if (candidate.method == "GET") {
    // Who has read a collection alone has not read its members.
    const bool was_read = candidate.expands() ? sent_.contains(candidate.key) : is_known;
    if (read_.contains(candidate.uri)) {
      bits |= MarkBit(Mark::kRead);
    } else if (was_read) {
      bits |= MarkBit(Mark::kStale);
    }
  } else if (candidate.IsMutation()) {
    if (is_known) bits |= MarkBit(Mark::kTargetRead);
    if (resource.changed) bits |= MarkBit(Mark::kTargetChanged);
    const Held held = is_known ? resource.facts->Compare(place, goal_) : Held::kUnknown;
    if (held == Held::kAll) bits |= MarkBit(Mark::kHolds);
    if (held == Held::kOther) bits |= MarkBit(Mark::kDiffers);
    if (IsInRefusal(candidate, resources)) bits |= MarkBit(Mark::kInRefusal);
  }
  if (is_known) bits |= MarkBit(resource.named ? Mark::kNamed : Mark::kUnnamed);
  bits |= PlaceBits(resource.place);
  const auto sent = sent_.find(candidate.key);
  if (sent == sent_.end()) return bits;
  bits |= AnswerBits(sent->second.status);
  if (sent->second.count > 1) bits |= MarkBit(Mark::kRepeated);
  if (sent->second.changes < changes_) bits |= MarkBit(Mark::kChangedSince);
  return bits;
}

std::vector<model::CandidateMark> EpisodeMemory::Marks(const SeenResources& resources) const {
  std::vector<model::CandidateMark> marks;
  for (const auto& met : resources_) {
    std::size_t place = 0;
    resources.ForEachOf(met.first, [&](std::size_t index, const redfish::Candidate& candidate) {
      const std::uint32_t bits = BitsOf(candidate, place++, met.second, resources);
      if (bits != 0) marks.push_back({static_cast<std::uint32_t>(index), bits});
    });
    if (marks.size() > kMaximumMarks) break;
  }
  if (marks.size() > kMaximumMarks) marks.resize(kMaximumMarks);
  std::sort(marks.begin(), marks.end(),
            [](const model::CandidateMark& a, const model::CandidateMark& b) {
              return a.candidate < b.candidate;
            });
  return marks;
}

}  // namespace shoal::actor
