// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/redfish_environment.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "actor/environments/expanded_answer.h"
#include "actor/environments/reward.h"
#include "redfish/capture/uri.h"
#include "redfish/goals/sentence_values.h"

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

std::string Describe(const redfish::Candidate& candidate, const nlohmann::json& body, int status) {
  std::string text = candidate.method;
  if (!candidate.uri.empty()) text += " " + candidate.uri;
  if (!body.is_null()) text += " " + body.dump();
  return status == 0 ? text : text + " " + std::to_string(status);
}

// Returns the sentence as it stands, or, where several values in it have to be told apart, with
// what stands around them.
ContentReference GoalContent(const std::string& sentence) {
  const std::vector<std::string> around = redfish::TextsAroundValues(sentence);
  return inference::client::ContentOf(
      around.empty() ? sentence : content::CanonicalJson({{"goal", sentence}, {"around", around}}));
}

}  // namespace

EnvironmentSpec RedfishEnvironment::Spec() {
  return {.observation_name = "numeric",
          .observation_shape = {kObservationSize},
          .content_fields = {"goal", "request", "body", "topic"},
          .actions = 0,
          .candidate_marks = kMarkKinds,
          .tells_goals = true};
}

RedfishEnvironment::RedfishEnvironment(std::shared_ptr<const RedfishTasks> tasks,
                                       std::unique_ptr<RedfishService> service,
                                       std::shared_ptr<ResponseCache> response_cache,
                                       bool hindsight)
    : tasks_(std::move(tasks)),
      service_(std::move(service)),
      response_cache_(std::move(response_cache)),
      hindsight_(hindsight) {}

void RedfishEnvironment::Reset(const EpisodeStart& start, Done done) {
  const std::size_t count = tasks_->pairs.size();
  pair_ = start.pair ? *start.pair
                     : static_cast<std::size_t>((start.environment_id + start.episode) % count);
  const Pair& pair = tasks_->pairs[pair_];
  const std::uint64_t number = EpisodeNumber(start);
  absl::StatusOr<redfish::Episode> episode = FindEpisode(start, pair_, number);
  if (!episode.ok()) {
    done(episode.status());
    return;
  }
  episode_ = std::move(*episode);
  const std::string seen_words = Sees("words") ? episode_.text : std::string();
  resources_.Begin(tasks_->catalogs.at(pair.capture), redfish::NamesOf(seen_words));
  memory_.Begin(seen_words, tasks_->catalogs.at(pair.capture));
  draft_.Begin(seen_words);
  slot_values_.emplace(runtime::DeriveSeed(tasks_->seed, "slots"), number);
  goal_ = {};
  if (Sees("words")) goal_ = GoalContent(episode_.text);
  request_ = {};
  body_ = {};
  etags_.clear();
  token_.clear();
  session_.clear();
  last_status_ = steps_ = mutations_ = client_errors_ = 0;
  last_mutated_ = last_repeated_ = false;
  requests_.clear();
  open_.clear();
  start_ = start;
  others_.clear();
  actions_.clear();
  recording_ = {};
  limit_ = tasks_->limits[pair_];
  if (const FaultOptions& worst = tasks_->options.faults; worst.any()) {
    runtime::Random random(runtime::DeriveSeed(tasks_->seed, "faults"), number);
    ServiceFaults faults = DrawFaults(worst, random, start.fault_share);
    if (!resources_.catalog().outline().has_tasks()) faults.task.reset();
    const absl::StatusOr<ServiceFaults> set = service_->SetFaults(faults);
    if (!set.ok()) {
      done(set.status());
      return;
    }
    limit_ = std::min(limit_ + WaitingOf(*set), tasks_->options.episode_limit);
  }
  service_->Reset(
      pair.capture, episode_,
      [this, number, done = std::move(done)](absl::StatusOr<redfish::Progress> progress) {
        absl::Status status = progress.status();
        if (status.ok() && hindsight_ && !start_.evaluation) status = WatchOthers(number);
        if (!status.ok()) {
          done(std::move(status));
          return;
        }
        progress_ = *progress;
        done(Transition{.observation = Observe()});
      });
}

std::int64_t RedfishEnvironment::WaitingOf(const ServiceFaults& faults) const {
  const EnvironmentOptions& options = tasks_->options;
  if (!faults.task || options.limit_per_expert_request <= 0) return 0;
  const auto waits =
      static_cast<double>(std::chrono::ceil<std::chrono::seconds>(*faults.task).count()) /
      static_cast<double>(options.wait_seconds);
  // An expert waits and looks until each task is over.
  const double requests = 2 * std::ceil(waits) * static_cast<double>(episode_.optimum);
  // Where a share of requests fails, as many more have to be sent.
  const double factor = options.limit_per_expert_request / (1 - options.faults.rate);
  return static_cast<std::int64_t>(std::ceil(factor * requests));
}

absl::Status RedfishEnvironment::WatchOthers(std::uint64_t number) {
  std::vector<redfish::Watch> watches;
  EpisodeStart other = start_;
  other.situation.reset();
  for (std::size_t pair = 0; pair < tasks_->pairs.size(); ++pair) {
    if (pair == pair_ || tasks_->pairs[pair].capture != tasks_->pairs[pair_].capture) continue;
    absl::StatusOr<redfish::Episode> episode = FindEpisode(other, pair, number);
    // The goal has no episode of this number, and so cannot be set.
    if (!episode.ok() || !episode->watch) continue;
    others_.push_back({.pair = pair,
                       .sentence = std::move(episode->text),
                       .milestone_count = episode->milestone_count});
    watches.push_back(*std::move(episode->watch));
  }
  SHOAL_RETURN_IF_ERROR(service_->WatchOthers(std::move(watches)));
  recording_.start = service_->OtherProgress();
  return absl::OkStatus();
}

std::vector<AchievedGoal> RedfishEnvironment::Achieved() const {
  const auto& exchanges = recording_.exchanges;
  const auto& before =
      exchanges.size() > 1 ? exchanges[exchanges.size() - 2].others : recording_.start;
  const auto& after = exchanges.back().others;
  std::vector<AchievedGoal> achieved;
  for (std::size_t i = 0; i < others_.size(); ++i) {
    if (recording_.start[i].satisfied || before[i].satisfied || !after[i].satisfied) continue;
    const OtherGoal& other = others_[i];
    const Verdict verdict =
        Judge(tasks_->options.rewards, {.status = last_status_,
                                        .before = before[i],
                                        .after = after[i],
                                        .milestone_count = other.milestone_count,
                                        .last = steps_ >= tasks_->limits[other.pair],
                                        .repeated = last_repeated_});
    achieved.push_back({.goal = i, .sentence = other.sentence, .reward = verdict.reward});
  }
  return achieved;
}

absl::StatusOr<RelabelledEpisode> RedfishEnvironment::Relabel(std::uint64_t goal) {
  if (goal >= others_.size()) return Environment::Relabel(goal);
  RedfishEnvironment twin(tasks_, std::make_unique<RecordedService>(recording_, goal),
                          response_cache_);
  RelabelledEpisode episode;
  absl::Status status;
  const Done take = [&](absl::StatusOr<Transition> transition) {
    status.Update(transition.status());
    if (transition.ok()) episode.transitions.push_back(*std::move(transition));
  };
  EpisodeStart start = start_;
  start.pair = others_[goal].pair;
  start.situation.reset();
  twin.Reset(start, take);
  for (const std::int64_t action : actions_) {
    if (!status.ok() || episode.transitions.back().end != End::kNone) break;
    twin.Step(action, take);
    episode.actions.push_back(action);
  }
  if (status.ok() && twin.facts().success) return episode;
  return runtime::FailedPrecondition("what was done cannot be told as " + others_[goal].sentence);
}

absl::StatusOr<redfish::Episode> RedfishEnvironment::FindEpisode(const EpisodeStart& start,
                                                                 std::size_t pair,
                                                                 std::uint64_t number) const {
  const auto& given = tasks_->given;
  if (!given.empty()) return given[start.episode % given.size()];
  if (start.evaluation) {
    return tasks_->goals[pair]->DrawEpisode(tasks_->seed, number, redfish::Split::kEvaluate);
  }
  return tasks_->goals[pair]->DrawEpisode(
      tasks_->seed, number, redfish::Split::kTrain,
      {.word_dropout = tasks_->options.word_dropout, .typos = tasks_->options.typos},
      start.situation);
}

void RedfishEnvironment::Step(std::int64_t action, Done done) {
  const auto& list = draft_.is_open() ? draft_.list() : resources_.list();
  if (action < 0 || static_cast<std::size_t>(action) >= list->size()) {
    done(runtime::InvalidArgument("action " + std::to_string(action) +
                                  " is not in the catalog of " + std::to_string(list->size())));
    return;
  }
  actions_.push_back(action);
  if (draft_.is_open()) return Draft(action, std::move(done));
  const auto index = static_cast<std::size_t>(action);
  const redfish::Candidate& candidate = resources_.candidate(index);
  request_ = resources_.list()->at(index);
  if (!candidate.composes() && candidate.slots.empty()) return Send(candidate, std::move(done));
  // What a collection or the owner of an action holds says nothing about the body of a POST.
  const bool changes_resource = candidate.method == "PATCH";
  DraftKnowledge known = {.refused = memory_.refused()};
  if (changes_resource) known.held = memory_.HeldBy(candidate.resource);
  if (tasks_->options.read_values > 0) {
    known.read = memory_.ReadResources(changes_resource ? candidate.resource : std::string());
  }
  draft_.Open(candidate, resources_, std::move(known));
  if (draft_.is_open()) {
    done(Choice());
    return;
  }
  drafted_ = draft_.Finish(*slot_values_);
  Send(drafted_, std::move(done));
}

void RedfishEnvironment::Draft(std::int64_t action, Done done) {
  const auto& removed = draft_.list()->removed();
  if (std::binary_search(removed.begin(), removed.end(), static_cast<std::uint32_t>(action))) {
    done(runtime::InvalidArgument("action " + std::to_string(action) + " is not legal now"));
    return;
  }
  draft_.Choose(action);
  if (draft_.is_open()) {
    done(Choice());
    return;
  }
  request_ = draft_.text();
  if (draft_.state() == RequestDraft::State::kDropped) return Drop(done);
  drafted_ = draft_.Finish(*slot_values_);
  Send(drafted_, std::move(done));
}

Transition RedfishEnvironment::Choice() {
  return {.observation = Observe(), .reward = static_cast<float>(tasks_->options.rewards.choice)};
}

void RedfishEnvironment::Drop(const Done& done) {
  draft_.Close();
  ++steps_;
  last_mutated_ = last_repeated_ = false;
  last_status_ = 0;
  if (start_.evaluation) requests_.push_back("dropped");
  done(Conclude(progress_));
}

void RedfishEnvironment::Send(const redfish::Candidate& candidate, Done done) {
  ++steps_;
  last_mutated_ = candidate.IsMutation();
  if (last_mutated_) ++mutations_;
  const auto on_response = [this, &candidate,
                            done = std::move(done)](absl::StatusOr<ServiceResponse> response) {
    OnResponse(candidate, std::move(response), done);
  };
  if (candidate.method == redfish::kWaitMethod) {
    if (!others_.empty()) recording_.exchanges.push_back({.request = {.method = candidate.method}});
    service_->Advance(std::chrono::seconds(tasks_->options.wait_seconds), on_response);
    return;
  }
  ServiceRequest request{
      .method = candidate.method, .uri = candidate.uri, .body = candidate.body, .token = token_};
  if (candidate.method == "PATCH") {
    if (const auto etag = etags_.find(candidate.uri); etag != etags_.end()) {
      request.if_match = etag->second;
    }
  }
  if (!others_.empty()) recording_.exchanges.push_back({.request = request});
  service_->Send(request, on_response);
}

void RedfishEnvironment::OnResponse(const redfish::Candidate& candidate,
                                    absl::StatusOr<ServiceResponse> response, const Done& done) {
  if (!response.ok()) {
    done(response.status());
    return;
  }
  if (!others_.empty()) {
    recording_.exchanges.back().response = *response;
    recording_.exchanges.back().others = service_->OtherProgress();
  }
  last_status_ = response->status;
  if (last_status_ >= 400 && last_status_ < 500) ++client_errors_;
  if (start_.evaluation) {
    const bool drafted = draft_.state() != RequestDraft::State::kIdle;
    const nlohmann::json& body = drafted ? draft_.shown_body() : candidate.body;
    requests_.push_back(Describe(candidate, body, last_status_));
  }
  if (draft_.state() != RequestDraft::State::kIdle) draft_.NoteAnswer(last_status_);
  draft_.Close();
  if (!Sees("bodies")) {
    response->body = nullptr;
    response->json = nullptr;
  }
  KeepSession(candidate, *response);
  // Learn may destroy the candidate.
  Learn(redfish::Candidate(candidate), *response);
  Transition transition = Conclude(response->progress);
  if (!others_.empty()) transition.achieved = Achieved();
  done(std::move(transition));
}

void RedfishEnvironment::Learn(const redfish::Candidate& sent, const ServiceResponse& response) {
  const BodyTexts::Pointer text = TextOf(response);
  body_ = text->content;
  // The memory needs what the resources have learned.
  const std::vector<ReadAnswer> answers = TakeApart(sent, response, response_cache_->bodies);
  if (answers.empty()) {
    KeepEtag(sent, response);
    resources_.Learn(sent, response, *text);
    last_repeated_ = memory_.Learn(sent, response, *text, resources_);
    return;
  }
  for (const ReadAnswer& answer : answers) KeepEtag(answer.request, answer.response);
  resources_.Learn(answers);
  last_repeated_ = memory_.Learn(sent, answers, resources_);
}

Transition RedfishEnvironment::Conclude(const redfish::Progress& progress) {
  const Verdict verdict =
      Judge(tasks_->options.rewards, {.status = last_status_,
                                      .before = progress_,
                                      .after = progress,
                                      .milestone_count = episode_.milestone_count,
                                      .last = steps_ >= limit_,
                                      .repeated = last_repeated_});
  progress_ = progress;
  if (verdict.ends && start_.evaluation && episode_.watch) {
    open_ = episode_.watch->OpenRequirements(progress);
  }
  return {.observation = Observe(),
          .reward = verdict.reward,
          .end = verdict.ends ? End::kTerminated : End::kNone};
}

BodyTexts::Pointer RedfishEnvironment::TextOf(const ServiceResponse& response) const {
  BodyTexts& bodies = response_cache_->bodies;
  if (response.body != nullptr) return bodies.Read(*response.body, response.json.get());
  return response.json == nullptr ? bodies.Read({}) : bodies.ReadParsed(*response.json);
}

void RedfishEnvironment::KeepEtag(const redfish::Candidate& candidate,
                                  const ServiceResponse& response) {
  if (candidate.method == "POST" || response.status == 412) etags_.clear();
  if (candidate.method == "POST" || response.status >= 300) return;
  // An old tag says nothing of what an answer without one shows, and the tag of a 202 is the
  // task's.
  if (response.etag.empty() || response.status == 202) {
    etags_.erase(candidate.uri);
  } else {
    etags_[candidate.uri] = response.etag;
  }
}

void RedfishEnvironment::KeepSession(const redfish::Candidate& candidate,
                                     const ServiceResponse& response) {
  const bool deleted = candidate.method == "DELETE" && candidate.uri == session_;
  // A session whose end was only accepted is still there.
  if (response.status == 401 || (deleted && response.status < 300 && response.status != 202)) {
    token_.clear();
    session_.clear();
  }
  if (candidate.method == "POST" && response.status < 300 && !response.token.empty()) {
    token_ = response.token;
    session_ = redfish::CanonicalUri(response.location);
  }
}

bool RedfishEnvironment::Sees(std::string_view part) const {
  return tasks_->options.ablate != part;
}

Observation RedfishEnvironment::Observe() {
  Observation observation;
  observation.numeric.assign(static_cast<std::size_t>(kObservationSize), 0.0F);
  observation.numeric[StatusClass(last_status_)] = 1.0F;
  observation.numeric[5] = last_mutated_ ? 1.0F : 0.0F;
  const float used = static_cast<float>(steps_) / static_cast<float>(limit_);
  observation.numeric[6] = 1.0F - used;
  observation.numeric[7] = used;
  if (draft_.is_open()) {
    const bool of_value = draft_.state() == RequestDraft::State::kChoosingValue;
    observation.numeric[of_value ? 9 : 8] = 1.0F;
    observation.contents = {goal_, draft_.text(), body_, of_value ? draft_.topic() : goal_};
    observation.catalog = draft_.list();
    // The policy sums up requests by itself.
    if (!Sees("memory")) observation.contents[1] = {};
    if (Sees("memory")) observation.marks = draft_.Marks();
    return observation;
  }
  observation.contents = {goal_, request_, body_, goal_};
  observation.catalog = resources_.list();
  marks_.clear();
  if (Sees("memory")) {
    marks_ = memory_.Marks(resources_);
  } else {
    observation.contents[1] = {};
  }
  observation.marks = marks_;
  return observation;
}

EpisodeFacts RedfishEnvironment::facts() const {
  EpisodeFacts facts;
  facts.goal = tasks_->pairs[pair_].goal;
  facts.capture = tasks_->pairs[pair_].capture;
  facts.situation = episode_.situation;
  facts.steps = steps_;
  facts.mutations = mutations_;
  facts.client_errors = client_errors_;
  facts.collateral = static_cast<int>(progress_.collateral);
  facts.optimum = static_cast<int>(episode_.optimum);
  facts.success = progress_.satisfied;
  facts.clean = progress_.satisfied && progress_.collateral == 0;
  facts.satisfied_at_start = episode_.satisfied;
  facts.exchanged = episode_.exchanged;
  facts.open = open_;
  if (start_.evaluation) facts.text = episode_.text;
  facts.requests = requests_;
  return facts;
}

}  // namespace shoal::actor
