// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/redfish_environment.h"

#include <algorithm>
#include <utility>

#include "actor/environments/reward.h"
#include "redfish/capture/uri.h"

namespace shoal::actor {
namespace {

using inference::client::ContentReference;

// A number for (environment, episode) that seeds its random choices and that no other pair shares.
std::uint64_t EpisodeNumber(const EpisodeStart& start) {
  const auto words = runtime::Philox(
      {static_cast<std::uint32_t>(start.environment_id),
       static_cast<std::uint32_t>(start.environment_id >> 32),
       static_cast<std::uint32_t>(start.episode), static_cast<std::uint32_t>(start.episode >> 32)},
      0);
  return std::uint64_t{words[1]} << 32 | words[0];
}

std::size_t StatusClass(int status) {
  return status < 200 ? 0 : static_cast<std::size_t>(std::min(status / 100 - 1, 4));
}

}  // namespace

EnvironmentSpec RedfishEnvironment::Spec() {
  return {.observation_name = "numeric",
          .observation_size = kObservationSize,
          .content_fields = {"goal", "request", "body"},
          .actions = 0};
}

RedfishEnvironment::RedfishEnvironment(std::shared_ptr<const RedfishTasks> tasks,
                                       std::unique_ptr<RedfishService> service,
                                       std::shared_ptr<ResponseCache> response_cache)
    : tasks_(std::move(tasks)),
      service_(std::move(service)),
      response_cache_(std::move(response_cache)) {}

void RedfishEnvironment::Reset(const EpisodeStart& start, Done done) {
  const std::size_t count = tasks_->pairs.size();
  pair_ = start.pair ? *start.pair
                     : static_cast<std::size_t>((start.environment_id + start.episode) % count);
  const Pair& pair = tasks_->pairs[pair_];
  const std::uint64_t number = EpisodeNumber(start);
  const redfish::Split split =
      start.evaluation ? redfish::Split::kEvaluate : redfish::Split::kTrain;
  redfish::TextNoise noise;
  if (!start.evaluation) {
    noise = {.word_dropout = tasks_->options.word_dropout, .typos = tasks_->options.typos};
  }
  auto episode = tasks_->goals[pair_]->DrawEpisode(tasks_->seed, number, split, noise);
  if (!episode.ok()) {
    done(episode.status());
    return;
  }
  episode_ = std::move(*episode);
  resources_.Begin(tasks_->catalogs.at(pair.capture));
  slot_values_.emplace(runtime::DeriveSeed(tasks_->seed, "slots"), number);
  goal_ = {.key = content::KeyOf(episode_.text),
           .text = std::make_shared<const std::string>(episode_.text)};
  request_ = {};
  body_ = {};
  etags_.clear();
  token_.clear();
  session_.clear();
  last_status_ = steps_ = mutations_ = client_errors_ = 0;
  last_mutated_ = last_repeated_ = false;
  read_.clear();
  service_->Reset(pair.capture, episode_,
                  [this, done = std::move(done)](absl::StatusOr<Progress> progress) {
                    if (!progress.ok()) {
                      done(progress.status());
                      return;
                    }
                    progress_ = *progress;
                    done(Transition{.observation = Observe()});
                  });
}

void RedfishEnvironment::Step(std::int64_t action, Done done) {
  const std::size_t count = resources_.list()->size();
  if (action < 0 || static_cast<std::size_t>(action) >= count) {
    done(runtime::InvalidArgument("action " + std::to_string(action) +
                                  " is not in the catalog of " + std::to_string(count)));
    return;
  }
  const auto index = static_cast<std::size_t>(action);
  const redfish::Candidate& candidate = resources_.candidate(index);
  request_ = resources_.list()->at(index);
  ++steps_;
  last_mutated_ = candidate.IsMutation();
  if (last_mutated_) ++mutations_;
  const auto on_response = [this, &candidate,
                            done = std::move(done)](absl::StatusOr<ServiceResponse> response) {
    OnResponse(candidate, std::move(response), done);
  };
  if (candidate.method == redfish::kWaitMethod) {
    service_->Advance(std::chrono::seconds(tasks_->options.wait_seconds), on_response);
    return;
  }
  ServiceRequest request{.method = candidate.method,
                         .uri = candidate.uri,
                         .body = redfish::BindSlots(candidate, episode_.slot_values, *slot_values_),
                         .token = token_};
  if (candidate.method == "PATCH") {
    if (const auto etag = etags_.find(candidate.uri); etag != etags_.end()) {
      request.if_match = etag->second;
    }
  }
  service_->Send(request, on_response);
}

void RedfishEnvironment::OnResponse(const redfish::Candidate& candidate,
                                    absl::StatusOr<ServiceResponse> response, const Done& done) {
  if (!response.ok()) {
    done(response.status());
    return;
  }
  last_status_ = response->status;
  if (last_status_ >= 400 && last_status_ < 500) ++client_errors_;
  KeepRead(candidate, last_status_);
  const BodyTexts::Pointer text = TextOf(*response);
  body_ = text->content;
  KeepEtag(candidate, *response);
  KeepSession(candidate, *response);
  const Verdict verdict =
      Judge(tasks_->options.rewards, {.status = last_status_,
                                      .before = progress_,
                                      .after = response->progress,
                                      .milestone_count = episode_.milestone_count,
                                      .last = steps_ >= tasks_->options.episode_limit,
                                      .repeated = last_repeated_});
  progress_ = response->progress;
  // Learn may destroy the candidate.
  resources_.Learn(candidate, *response, *text);
  done(Transition{.observation = Observe(),
                  .reward = verdict.reward,
                  .end = verdict.ends ? End::kTerminated : End::kNone});
}

BodyTexts::Pointer RedfishEnvironment::TextOf(const ServiceResponse& response) const {
  BodyTexts& bodies = response_cache_->bodies;
  if (response.body != nullptr) return bodies.Read(*response.body, response.json.get());
  return response.json == nullptr ? bodies.Read({}) : bodies.ReadParsed(*response.json);
}

void RedfishEnvironment::KeepEtag(const redfish::Candidate& candidate,
                                  const ServiceResponse& response) {
  if (candidate.method == "POST" || response.status == 412) etags_.clear();
  if (candidate.method != "POST" && response.status < 300 && !response.etag.empty()) {
    etags_[candidate.uri] = response.etag;
  }
}

void RedfishEnvironment::KeepSession(const redfish::Candidate& candidate,
                                     const ServiceResponse& response) {
  const bool deleted = candidate.method == "DELETE" && candidate.uri == session_;
  if (response.status == 401 || (deleted && response.status < 300)) {
    token_.clear();
    session_.clear();
  }
  if (candidate.method == "POST" && response.status < 300 && !response.token.empty()) {
    token_ = response.token;
    session_ = redfish::CanonicalUri(response.location);
  }
}

void RedfishEnvironment::KeepRead(const redfish::Candidate& candidate, int status) {
  last_repeated_ = false;
  // The session is gone, so the answers may differ now.
  if (status == 401) read_.clear();
  if (candidate.method == "GET") {
    // A request that failed, or was refused for now, may be answered the next time.
    const bool told = status < 300 || status == 404 || status == 410;
    if (told) last_repeated_ = !read_.insert(candidate.uri).second;
    return;
  }
  // A refused request changes nothing, but ETags must be read again when KeepEtag has dropped them.
  const bool refused = status >= 400 && status < 500 && status != 412;
  if (!refused || candidate.method == "POST") read_.clear();
}

Observation RedfishEnvironment::Observe() const {
  Observation observation;
  observation.numeric.assign(static_cast<std::size_t>(kObservationSize), 0.0F);
  observation.numeric[StatusClass(last_status_)] = 1.0F;
  observation.numeric[5] = last_mutated_ ? 1.0F : 0.0F;
  const float used = static_cast<float>(steps_) / static_cast<float>(tasks_->options.episode_limit);
  observation.numeric[6] = 1.0F - used;
  observation.numeric[7] = used;
  observation.contents = {goal_, request_, body_};
  observation.catalog = resources_.list();
  return observation;
}

EpisodeFacts RedfishEnvironment::facts() const {
  EpisodeFacts facts;
  facts.goal = tasks_->pairs[pair_].goal;
  facts.capture = tasks_->pairs[pair_].capture;
  facts.steps = steps_;
  facts.mutations = mutations_;
  facts.client_errors = client_errors_;
  facts.collateral = static_cast<int>(progress_.collateral);
  facts.optimum = static_cast<int>(episode_.optimum);
  facts.success = progress_.satisfied;
  facts.clean = progress_.satisfied && progress_.collateral == 0;
  facts.satisfied_at_start = episode_.satisfied;
  return facts;
}

}  // namespace shoal::actor
