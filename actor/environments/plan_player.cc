// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/plan_player.h"

#include <algorithm>
#include <string>
#include <utility>

#include "actor/environments/inprocess_service.h"
#include "actor/environments/redfish_environment.h"
#include "platform/runtime/random.h"
#include "redfish/capture/uri.h"
#include "redfish/goals/goal_places.h"
#include "redfish/goals/plan.h"

namespace shoal::actor {
namespace {

using Json = nlohmann::json;

// Tells a plan that no further request is answered.
constexpr int kOver = 410;

// Wraps a service and remembers its last response.
class RememberingService final : public RedfishService {
 public:
  RememberingService(const Worlds& worlds, mockserver::InstanceOptions options)
      : service_(worlds, std::move(options)) {}

  absl::StatusOr<ServiceFaults> SetFaults(const ServiceFaults& faults) override {
    return service_.SetFaults(faults);
  }
  void Reset(const std::string& capture, const redfish::Episode& episode, ResetDone done) override {
    service_.Reset(capture, episode, std::move(done));
  }
  void Send(const ServiceRequest& request, Done done) override {
    service_.Send(request, Remember(std::move(done)));
  }
  void Advance(std::chrono::seconds by, Done done) override {
    service_.Advance(by, Remember(std::move(done)));
  }

  const ServiceResponse& last() const { return last_; }

 private:
  Done Remember(Done done) {
    return [this, done = std::move(done)](absl::StatusOr<ServiceResponse> response) {
      last_ = response.ok() ? *response : ServiceResponse{};
      done(std::move(response));
    };
  }

  InProcessService service_;
  ServiceResponse last_;
};

// Leaves out the values of the body, as a password may be among them.
std::string Describe(const redfish::PlanRequest& request) {
  constexpr std::size_t kShown = 4;
  std::string text = request.method + " " + request.uri;
  std::size_t count = 0;
  const Json leaves = request.body.empty() ? Json::object() : request.body.flatten();
  for (const auto& [pointer, value] : leaves.items()) {
    if (++count > kShown) break;
    text += (count == 1 ? " with " : ", ") + pointer;
  }
  return text + (count > kShown ? ", ..." : "");
}

// Sends a plan's requests to an environment until the episode ends or a request has no candidate.
// From then on nothing is sent.
class Expert final : public redfish::PlanClient {
 public:
  // `mistakes` is PlayStyle::mistakes, `random` decides about them, and `later` are the requests
  // that may be sent too early.
  Expert(RedfishEnvironment& environment, const RememberingService& service, std::int64_t wait,
         double mistakes, runtime::Random random, std::vector<redfish::PlanRequest> later)
      : environment_(environment),
        service_(service),
        wait_(wait),
        mistakes_(mistakes),
        random_(random),
        later_(std::move(later)) {}

  bool Begin(const EpisodeStart& start) {
    environment_.Reset(start, [this](absl::StatusOr<Transition> reached) { Take(reached); });
    return !over();
  }

  redfish::PlanReply Send(const redfish::PlanRequest& request) override {
    // The plan asks about a resource that the service lacks, so there is nothing to read.
    const bool is_dangling =
        request.method == "GET" &&
        environment_.resources().catalog().outline().IsDangling(redfish::CanonicalUri(request.uri));
    if (request.uri == redfish::kAbsent || is_dangling) {
      return {.status = 404, .body = nullptr, .location = "", .token = ""};
    }
    if (!over() && random_.Uniform() < mistakes_) MakeMistake(request);
    if (request.method == "PATCH") {
      std::erase_if(later_, [&request](const redfish::PlanRequest& other) {
        return other.uri == request.uri && other.body == request.body;
      });
      const bool is_again =
          !sent_.empty() && sent_.back().uri == request.uri && sent_.back().body == request.body;
      if (!is_again) sent_.push_back(request);
    }
    if (!over()) {
      Choose(environment_.resources().Find(request), request);
      while (!over() && environment_.draft().is_open()) {
        Choose(environment_.draft().Find(request.body), request);
      }
      if (failure_.ok()) return Answer();
    }
    return {.status = kOver, .body = nullptr, .location = "", .token = ""};
  }

  void Wait(std::chrono::seconds) override {
    if (over()) return;
    if (wait_ < 0) {
      Fail(runtime::NotFound("no candidate is WAIT"));
    } else {
      Choose(wait_);
    }
  }

  bool Expands(const std::string& uri) const override {
    const redfish::PlanRequest request{.method = "GET",
                                       .uri = uri + std::string(redfish::kExpandQuery),
                                       .body = nullptr,
                                       .token = ""};
    return environment_.resources().Find(request) >= 0;
  }

  bool over() const { return ended_ || !failure_.ok(); }
  bool ended() const { return ended_; }
  const absl::Status& failure() const { return failure_; }
  std::vector<PlayedStep> TakeSteps() { return std::move(steps_); }
  // The PATCH requests of the plan, in order.
  std::vector<redfish::PlanRequest> TakeSent() { return std::move(sent_); }
  int wrong_steps() const { return wrong_steps_; }
  int wrong_mutations() const { return wrong_mutations_; }

 private:
  void Choose(std::int64_t action, const redfish::PlanRequest& request) {
    if (action < 0) {
      const bool drafts = environment_.draft().is_open();
      Fail(runtime::NotFound((drafts ? "no choice leads to " : "no candidate is ") +
                             Describe(request)));
      return;
    }
    Choose(action);
  }

  void Choose(std::int64_t action) {
    steps_.push_back({.observation = observation_, .action = action});
    environment_.Step(action, [this](absl::StatusOr<Transition> reached) {
      Take(reached);
      if (reached.ok()) steps_.back().reward = reached->reward;
    });
  }

  // Takes an action that is no step of the episode.
  void Err(std::int64_t action) {
    ++wrong_steps_;
    environment_.Step(action, [this](absl::StatusOr<Transition> reached) {
      Take(reached);
      if (reached.ok() && !steps_.empty()) steps_.back().reward += reached->reward;
    });
  }

  void MakeMistake(const redfish::PlanRequest& request) {
    const SeenResources& resources = environment_.resources();
    const std::int64_t action = resources.Find(request);
    const bool has_values =
        action >= 0 && (resources.candidate(static_cast<std::size_t>(action)).composes() ||
                        !resources.candidate(static_cast<std::size_t>(action)).slots.empty());
    if (later_.size() > 1 && random_.Below(2) == 0) {
      SendEarly();
    } else if (has_values && random_.Below(2) == 0) {
      SendWrongly(action, request);
    } else {
      ReadSomething();
    }
    if (ended_) Fail(runtime::FailedPrecondition("a mistake ended the episode"));
  }

  void ReadSomething() {
    constexpr int kTries = 64;
    const SeenResources& resources = environment_.resources();
    for (int i = 0; i < kTries; ++i) {
      const std::size_t action = random_.Below(resources.list()->size());
      if (resources.candidate(action).method != "GET" || !resources.IsLegal(action)) continue;
      return Err(static_cast<std::int64_t>(action));
    }
  }

  // The PATCH that comes next would be no mistake.
  void SendEarly() {
    const redfish::PlanRequest& request = later_[1 + random_.Below(later_.size() - 1)];
    const std::int64_t action = environment_.resources().Find(request);
    if (action < 0) return ReadSomething();
    SendByMistake(action, request.body);
  }

  // Sends the request with the body `wanted`, or drops it where no choice leads there.
  void SendByMistake(std::int64_t action, const Json& wanted) {
    const RequestDraft& draft = environment_.draft();
    bool is_sent = true;
    Err(action);
    while (!over() && draft.is_open()) {
      const std::int64_t found = draft.Find(wanted);
      is_sent = found >= 0;
      if (!is_sent && draft.state() == RequestDraft::State::kChoosingValue) {
        return Fail(runtime::FailedPrecondition("a mistake has no value that is offered"));
      }
      Err(is_sent ? found : static_cast<std::int64_t>(draft.list()->size()) - 1);
    }
    if (is_sent) ++wrong_mutations_;
  }

  // Takes one of several values out of a body. Returns false when there are none.
  bool LeaveOut(Json& body) {
    const Json leaves = body.is_object() ? body.flatten() : Json::object();
    std::vector<std::string> members;
    for (const auto& [pointer, value] : leaves.items()) {
      const Json::json_pointer place(pointer);
      if (!place.empty() && body.at(place.parent_pointer()).is_object()) members.push_back(pointer);
    }
    if (members.size() < 2) return false;
    Json::json_pointer place(members[random_.Below(members.size())]);
    do {
      body.at(place.parent_pointer()).erase(place.back());
      place = place.parent_pointer();
    } while (!place.empty() && body.at(place).empty() &&
             body.at(place.parent_pointer()).is_object());
    return true;
  }

  // Sends the request with one value replaced by another that is offered, with two exchanged, or
  // with one left out. A request that composes is dropped when it turns out to have no such value.
  void SendWrongly(std::int64_t action, const redfish::PlanRequest& request) {
    const RequestDraft& draft = environment_.draft();
    const redfish::Candidate& candidate =
        environment_.resources().candidate(static_cast<std::size_t>(action));
    const bool composes = candidate.composes();
    Json wanted = request.body;
    if (composes && random_.Below(2) == 0 && LeaveOut(wanted)) {
      return SendByMistake(action, wanted);
    }
    bool is_wrong = !composes && random_.Below(2) == 0 && Exchange(candidate, wanted);
    // The number of choices of a value before the wrong one.
    std::size_t right = composes ? 0 : random_.Below(candidate.slots.size());
    Err(action);
    while (!over() && draft.is_open()) {
      const auto size = static_cast<std::int64_t>(draft.list()->size());
      const std::int64_t send = size - 2;
      const std::int64_t drop = size - 1;
      const std::int64_t found = draft.Find(wanted);
      if (draft.state() != RequestDraft::State::kChoosingValue) {
        Err(is_wrong ? send : found < 0 || found == send ? drop : found);
      } else if (is_wrong || size == 1 || right > 0) {
        Err(std::max<std::int64_t>(found, 0));
        if (right > 0) --right;
      } else {
        const auto other = static_cast<std::int64_t>(
            random_.Below(static_cast<std::uint64_t>(found < 0 ? size : size - 1)));
        Err(found >= 0 && other >= found ? other + 1 : other);
        is_wrong = true;
      }
    }
    if (is_wrong) {
      ++wrong_mutations_;
    } else if (!composes) {
      Fail(runtime::FailedPrecondition("a request was to have a wrong value and has none"));
    }
  }

  // Exchanges the different texts of two slots that follow each other, in `body`. Returns false
  // when there are none.
  bool Exchange(const redfish::Candidate& candidate, Json& body) {
    using Pointer = Json::json_pointer;
    std::vector<std::pair<Pointer, Pointer>> pairs;
    const auto text_at = [&body](const redfish::Slot& slot) {
      const Json* const value = redfish::Resolve(body, slot.pointer);
      return value != nullptr && value->is_string() ? value : nullptr;
    };
    for (std::size_t i = 1; i < candidate.slots.size(); ++i) {
      const Json* const first = text_at(candidate.slots[i - 1]);
      const Json* const second = text_at(candidate.slots[i]);
      if (first == nullptr || second == nullptr || *first == *second) continue;
      pairs.emplace_back(candidate.slots[i - 1].pointer, candidate.slots[i].pointer);
    }
    if (pairs.empty()) return false;
    const auto& [first, second] = pairs[random_.Below(pairs.size())];
    std::swap(body.at(first), body.at(second));
    return true;
  }

  void Fail(const absl::Status& failure) {
    if (failure_.ok()) failure_ = failure;
  }

  void Take(const absl::StatusOr<Transition>& reached) {
    if (!reached.ok()) {
      Fail(runtime::FailedPrecondition(runtime::Message(reached.status())));
      return;
    }
    observation_ = reached->observation;
    ended_ = reached->end != End::kNone;
  }

  redfish::PlanReply Answer() const {
    const ServiceResponse& last = service_.last();
    return {.status = last.status,
            .body = *JsonOf(last),
            .location = last.location,
            .token = last.token};
  }

  RedfishEnvironment& environment_;
  const RememberingService& service_;
  // The action that waits, or -1 when the catalog has none.
  const std::int64_t wait_;
  const double mistakes_;
  runtime::Random random_;
  // What the plan has not sent yet.
  std::vector<redfish::PlanRequest> later_;
  std::vector<redfish::PlanRequest> sent_;
  int wrong_steps_ = 0;
  int wrong_mutations_ = 0;
  Observation observation_;
  std::vector<PlayedStep> steps_;
  absl::Status failure_;
  bool ended_ = false;
};

absl::Status Judge(const Expert& expert, const EpisodeFacts& facts, const absl::Status& plan) {
  SHOAL_RETURN_IF_ERROR(expert.failure());
  if (!expert.ended()) {
    if (!plan.ok()) return runtime::FailedPrecondition(runtime::Message(plan));
    return runtime::FailedPrecondition("the plan ends before its goal is reached");
  }
  if (!facts.success) {
    return runtime::FailedPrecondition("the goal is not reached within " +
                                       std::to_string(facts.steps) + " requests");
  }
  return facts.clean ? absl::OkStatus()
                     : runtime::FailedPrecondition("the goal is reached with side effects");
}

}  // namespace

absl::StatusOr<PlayedEpisode> PlanPlayer::Play(std::size_t pair, std::uint64_t episode,
                                               const PlayStyle& style) {
  if (style.mistakes <= 0) return PlayOnce(pair, episode, style, {}, nullptr);
  // Only what was sent without mistakes tells what comes later. Finding out takes as long as
  // playing, so only every other episode does.
  std::vector<redfish::PlanRequest> later;
  if (episode % 2 == 0) {
    const PlayStyle faultless = {.looks = style.looks};
    SHOAL_RETURN_IF_ERROR(PlayOnce(pair, episode, faultless, {}, &later).status());
  }
  return PlayOnce(pair, episode, style, later, nullptr);
}

absl::StatusOr<PlayedEpisode> PlanPlayer::PlayOnce(std::size_t pair, std::uint64_t episode,
                                                   const PlayStyle& style,
                                                   const std::vector<redfish::PlanRequest>& later,
                                                   std::vector<redfish::PlanRequest>* sent) {
  const RedfishTasks& tasks = *data_.tasks;
  const std::uint64_t seed = runtime::DeriveSeed(
      tasks.seed, "expert " + std::to_string(pair) + " " + std::to_string(episode));
  mockserver::InstanceOptions options;
  options.seed = seed;
  auto own = std::make_unique<RememberingService>(data_.worlds, std::move(options));
  const RememberingService& service = *own;
  RedfishEnvironment environment(data_.tasks, std::move(own), response_cache_);
  Expert expert(
      environment, service,
      redfish::FindWait(tasks.catalogs.at(tasks.pairs[pair].capture).catalog->candidates()),
      style.mistakes, runtime::Random(runtime::DeriveSeed(seed, "mistakes")), later);
  if (!expert.Begin({.environment_id = 0, .episode = episode, .pair = pair})) {
    return runtime::Annotate(expert.failure(), "no start");
  }
  const redfish::Plan plan = tasks.goals[pair]->PlanOf(environment.episode());
  if (plan.empty()) return runtime::FailedPrecondition("the goal's file has no plan");
  const mockserver::World& world = *data_.worlds.at(tasks.pairs[pair].capture);
  const auto captured = [&world](const std::string& uri) -> const Json* {
    const auto id = world.Find(uri);
    return id ? world.resource(*id).json.get() : nullptr;
  };
  const bool sparing = style.looks == Looks::kWhereNeeded;
  const auto outcome = redfish::RunPlan(
      plan, expert,
      // The environment ends the episode at its limit.
      {.attempts = static_cast<int>(tasks.options.episode_limit),
       .pause = std::chrono::seconds(tasks.options.wait_seconds),
       .looks = static_cast<int>(tasks.options.episode_limit),
       .unseen = sparing,
       .captured = sparing ? std::function<const Json*(const std::string&)>(captured) : nullptr});
  PlayedEpisode played{.steps = {},
                       .facts = environment.facts(),
                       .wrong_steps = expert.wrong_steps(),
                       .wrong_mutations = expert.wrong_mutations()};
  SHOAL_RETURN_IF_ERROR(Judge(expert, played.facts, outcome.status()));
  played.steps = expert.TakeSteps();
  if (sent != nullptr) *sent = expert.TakeSent();
  return played;
}

}  // namespace shoal::actor
