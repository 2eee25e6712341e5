// SPDX-License-Identifier: Apache-2.0
#include "encoder/retrieval_task.h"

#include <algorithm>
#include <map>
#include <utility>

#include "encoder/expert_requests.h"
#include "redfish/capture/capture_path.h"

namespace shoal::encoder {
namespace {

constexpr const char* kSchemaGroup = "schema";

std::int64_t Agreements(const redfish::Values& drawn, const nlohmann::json& said) {
  std::int64_t count = 0;
  for (const auto& [name, value] : said.items()) {
    const auto found = drawn.find(name);
    if (found != drawn.end() && found->second == value) ++count;
  }
  return count;
}

}  // namespace

std::set<std::int64_t> RelevantCandidates(const redfish::Catalog& catalog,
                                          const std::vector<redfish::PlanRequest>& requests) {
  std::set<std::int64_t> relevant;
  for (const redfish::PlanRequest& request : requests) {
    bool known = false;
    for (std::size_t i = 0; i < catalog.size(); ++i) {
      if (!IsLike(catalog.candidates()[i], request)) continue;
      relevant.insert(static_cast<std::int64_t>(i));
      known = true;
    }
    if (known) continue;
    const std::int64_t composing = redfish::FindCandidate(catalog.candidates(), request, true);
    if (composing >= 0) relevant.insert(composing);
  }
  return relevant;
}

absl::StatusOr<RetrievalSource> RetrievalSource::Load(const std::string& named,
                                                      const std::string& data,
                                                      const redfish::Schema& schema,
                                                      const redfish::GoalSuite& suite) {
  RetrievalSource source;
  SHOAL_ASSIGN_OR_RETURN(const std::string path, redfish::FindCapture(named, data));
  SHOAL_ASSIGN_OR_RETURN(source.capture_, redfish::Capture::Load(path));
  SHOAL_ASSIGN_OR_RETURN(source.catalog_, redfish::Catalog::Build(*source.capture_, schema));
  SHOAL_ASSIGN_OR_RETURN(source.goals_, redfish::ApplyGoals(suite, *source.capture_));
  return source;
}

RetrievalTask RetrievalSource::Requests() const {
  RetrievalTask task{capture_->name(), {}, {}};
  for (const redfish::Candidate& candidate : catalog_->candidates()) {
    task.requests.push_back(candidate.text);
  }
  return task;
}

absl::StatusOr<std::set<std::int64_t>> RetrievalSource::RelevantTo(
    const redfish::AppliedGoal& goal, const redfish::Episode& episode) const {
  SHOAL_ASSIGN_OR_RETURN(const auto requests, RequestsOnTheWay(*capture_, goal, episode));
  return RelevantCandidates(*catalog_, requests);
}

absl::StatusOr<RetrievalTask> RetrievalSource::Draw(const RetrievalDraws& draws) const {
  RetrievalTask task = Requests();
  for (const auto& goal : goals_) {
    if (!draws.goals.empty() && !draws.goals.contains(goal->goal().name())) continue;
    for (std::int64_t number = 0; number < draws.episodes; ++number) {
      SHOAL_ASSIGN_OR_RETURN(redfish::Episode episode,
                             goal->DrawEpisode(draws.seed, static_cast<std::uint64_t>(number),
                                               draws.split, draws.noise));
      SHOAL_ASSIGN_OR_RETURN(std::set<std::int64_t> relevant, RelevantTo(*goal, episode));
      if (relevant.empty()) continue;
      task.queries.push_back({std::move(episode.text), goal->goal().name(), std::move(relevant)});
    }
  }
  return task;
}

absl::StatusOr<RetrievalTask> RetrievalSource::DrawFor(std::span<const SaidSentence> said,
                                                       const RetrievalDraws& draws) const {
  RetrievalTask task = Requests();
  for (const auto& goal : goals_) {
    std::vector<std::pair<redfish::Values, std::set<std::int64_t>>> starts;
    bool drawn = false;
    for (const SaidSentence& sentence : said) {
      if (sentence.goal != goal->goal().name() || sentence.capture != capture_->name()) continue;
      for (std::int64_t number = drawn ? draws.episodes : 0; number < draws.episodes; ++number) {
        SHOAL_ASSIGN_OR_RETURN(
            redfish::Episode episode,
            goal->DrawEpisode(draws.seed, static_cast<std::uint64_t>(number), draws.split));
        SHOAL_ASSIGN_OR_RETURN(std::set<std::int64_t> relevant, RelevantTo(*goal, episode));
        if (!relevant.empty()) starts.emplace_back(std::move(episode.values), std::move(relevant));
      }
      drawn = true;
      std::int64_t most = 0;
      for (const auto& start : starts) {
        most = std::max(most, Agreements(start.first, sentence.values));
      }
      for (const auto& start : starts) {
        if (Agreements(start.first, sentence.values) != most) continue;
        task.queries.push_back({sentence.text, sentence.goal, start.second});
      }
    }
  }
  return task;
}

RetrievalTask RetrievalSource::Described(const SchemaDescriptions& descriptions) const {
  RetrievalTask task = Requests();
  std::map<std::string, std::set<std::int64_t>> described;
  for (std::size_t i = 0; i < catalog_->size(); ++i) {
    for (const std::string& text : descriptions.Of(catalog_->candidates()[i])) {
      described[text].insert(static_cast<std::int64_t>(i));
    }
  }
  for (auto& [text, relevant] : described) {
    task.queries.push_back({text, kSchemaGroup, std::move(relevant)});
  }
  return task;
}

}  // namespace shoal::encoder
