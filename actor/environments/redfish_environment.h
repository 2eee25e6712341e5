// SPDX-License-Identifier: Apache-2.0
// An environment of one Redfish service with a goal: the agent reads texts and picks requests.
//
// An observation has four contents: `goal` (the text of the goal), `request` (the request that was
// sent last, or the one that is being put together), `body` (the canonical body of the last answer)
// and `topic` (what the choice is about: the goal, or the name of a slot whose value is chosen). It
// also has kObservationSize numbers: the class of the last status (none, 2xx, 3xx, 4xx, 5xx),
// whether the last request could change something, the share of the episode's limit that is left,
// the share that is used, whether parts are being chosen, and whether the value of a slot is.
// Candidates carry marks of what the episode knows of them (episode_memory.h). Whether the goal is
// reached shows only in the reward and in the end of the episode.
//
// Actions are the candidates of the service's catalog, adjusted by the resources that the episode
// has seen come and go (SeenResources). A candidate that leaves something open begins a request
// that is put together by further actions (RequestDraft). These cost RewardOptions::choice and
// count neither as steps nor against the limit; the request that they end in does.
//
// A collection that was read with its members ($expand) counts as if the collection and each member
// had been read by themselves; the content `body` is the whole answer.
//
// Some rules are fixed and leave the agent no choice. A PATCH carries If-Match when this episode
// has seen an ETag of its URI. `wait` moves the service's clock. The token of a session that was
// made by POST goes with every later request, until the session is deleted, a newer one is made, or
// the service answers with 401. The limit is part of the task: reaching it terminates the episode.
// A fleet may step the environment past that. A GET that can tell nothing new costs
// RewardOptions::repeated_read.
//
// With hindsight the service also watches the goals of the capture's other pairs, each as an
// episode of that pair and this number would have it, and steps tell which of them they achieve. An
// episode is told again by another environment with that goal, which takes the same actions on a
// service that answers as recorded; so it sees the sentence, the marks and the choices of that
// goal. Where the actions do not lead to the same requests, because values came from the other
// sentence, the episode is not told.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actor/environments/body_texts.h"
#include "actor/environments/environment.h"
#include "actor/environments/environment_options.h"
#include "actor/environments/episode_memory.h"
#include "actor/environments/recorded_service.h"
#include "actor/environments/redfish_service.h"
#include "actor/environments/request_draft.h"
#include "actor/environments/response_cache.h"
#include "actor/environments/seen_resources.h"
#include "actor/environments/service_catalog.h"
#include "platform/runtime/random.h"
#include "redfish/goals/goal.h"

namespace shoal::actor {

// The tasks that all environments of a process share. Immutable.
struct RedfishTasks {
  EnvironmentOptions options;
  std::uint64_t seed = 0;
  std::vector<Pair> pairs;
  // One for each pair.
  std::vector<std::shared_ptr<const redfish::AppliedGoal>> goals;
  // One for each pair: the requests of its episodes.
  std::vector<std::int64_t> limits;
  // Where there are any, the episodes that are played in turn by their number, of whichever pair,
  // instead of drawn ones.
  std::vector<redfish::Episode> given;
  // Each catalog stands under the name of its capture.
  std::map<std::string, ServiceCatalog> catalogs;
};

class RedfishEnvironment final : public Environment {
 public:
  static constexpr std::int64_t kObservationSize = 10;

  static EnvironmentSpec Spec();

  // `response_cache` is shared by the environments of one thread. Hindsight needs a service that
  // watches further goals.
  RedfishEnvironment(std::shared_ptr<const RedfishTasks> tasks,
                     std::unique_ptr<RedfishService> service,
                     std::shared_ptr<ResponseCache> response_cache, bool hindsight = false);

  void Reset(const EpisodeStart& start, Done done) override;
  void Step(std::int64_t action, Done done) override;
  absl::StatusOr<RelabelledEpisode> Relabel(std::uint64_t goal) override;
  EpisodeFacts facts() const override;

  // The running episode, and what it has seen of the service.
  const redfish::Episode& episode() const { return episode_; }
  const SeenResources& resources() const { return resources_; }
  // The request that is being put together.
  const RequestDraft& draft() const { return draft_; }
  // Whether the last step was a GET of something that the episode had read, with nothing changed
  // and no `wait` since.
  bool last_repeated() const { return last_repeated_; }
  // The marks of the last observation.
  const std::vector<model::CandidateMark>& marks() const { return marks_; }
  // The status of the last step. 0 before the first step, after `wait` and after a request that was
  // dropped.
  int last_status() const { return last_status_; }

 private:
  // A goal that hindsight may set.
  struct OtherGoal {
    std::size_t pair = 0;
    std::string sentence;
    std::int64_t milestone_count = 0;
  };

  // Returns the episode of `pair` that begins; `number` seeds what is drawn.
  absl::StatusOr<redfish::Episode> FindEpisode(const EpisodeStart& start, std::size_t pair,
                                               std::uint64_t number) const;
  // Returns how many further requests an episode may take, since it has to wait for tasks.
  std::int64_t WaitingOf(const ServiceFaults& faults) const;
  // Has the service watch the goals of the capture's other pairs. Returns the service's errors.
  absl::Status WatchOthers(std::uint64_t number);
  // Returns what the last request achieved of other goals.
  std::vector<AchievedGoal> Achieved() const;
  // Takes an action on the request that is being put together.
  void Draft(std::int64_t action, Done done);
  // Returns the transition to the next choice.
  Transition Choice();
  // Concludes a step that sends no request.
  void Drop(const Done& done);
  void Send(const redfish::Candidate& candidate, Done done);
  void OnResponse(const redfish::Candidate& candidate, absl::StatusOr<ServiceResponse> response,
                  const Done& done);
  Transition Conclude(const redfish::Progress& progress);
  // Takes in the answer to a request that was sent.
  void Learn(const redfish::Candidate& sent, const ServiceResponse& response);
  BodyTexts::Pointer TextOf(const ServiceResponse& response) const;
  void KeepEtag(const redfish::Candidate& candidate, const ServiceResponse& response);
  void KeepSession(const redfish::Candidate& candidate, const ServiceResponse& response);
  // Whether the agent sees this part of what there is (EnvironmentOptions::ablate).
  bool Sees(std::string_view part) const;
  Observation Observe();

  const std::shared_ptr<const RedfishTasks> tasks_;
  const std::unique_ptr<RedfishService> service_;
  const std::shared_ptr<ResponseCache> response_cache_;
  const bool hindsight_;

  std::size_t pair_ = 0;
  // Of the running episode: that of its pair, and what waiting for tasks takes.
  std::int64_t limit_ = 0;
  SeenResources resources_ = SeenResources(response_cache_->candidates);
  RequestDraft draft_ = RequestDraft(response_cache_->part_lists,
                                     static_cast<std::size_t>(tasks_->options.read_values));
  // The request under way, where it was put together.
  redfish::Candidate drafted_;
  EpisodeMemory memory_ = EpisodeMemory(response_cache_->facts, response_cache_->values);
  std::vector<model::CandidateMark> marks_;
  redfish::Episode episode_;
  std::optional<runtime::Random> slot_values_;
  inference::client::ContentReference goal_;
  inference::client::ContentReference request_;
  inference::client::ContentReference body_;
  std::map<std::string, std::string> etags_;
  // The token and the URI of the session, both empty without one.
  std::string token_;
  std::string session_;
  redfish::Progress progress_;
  // What an evaluation's episode left open, once it has ended.
  std::vector<std::string> open_;
  int last_status_ = 0;
  bool last_mutated_ = false;
  bool last_repeated_ = false;
  // How the running or last episode began.
  EpisodeStart start_;
  // What Relabel needs of the last episode of training.
  std::vector<OtherGoal> others_;
  std::vector<std::int64_t> actions_;
  Recording recording_;
  // One for each step of an evaluation.
  std::vector<std::string> requests_;
  int steps_ = 0;
  int mutations_ = 0;
  int client_errors_ = 0;
};

}  // namespace shoal::actor
