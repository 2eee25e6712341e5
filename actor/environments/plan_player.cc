// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/plan_player.h"

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

  absl::Status SetFaults(const ServiceFaults& faults) override {
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
  Expert(RedfishEnvironment& environment, const RememberingService& service, std::int64_t wait)
      : environment_(environment), service_(service), wait_(wait) {}

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
                                               Looks looks) {
  const RedfishTasks& tasks = *data_.tasks;
  mockserver::InstanceOptions options;
  options.seed = runtime::DeriveSeed(
      tasks.seed, "expert " + std::to_string(pair) + " " + std::to_string(episode));
  auto own = std::make_unique<RememberingService>(data_.worlds, std::move(options));
  const RememberingService& service = *own;
  RedfishEnvironment environment(data_.tasks, std::move(own), response_cache_);
  Expert expert(
      environment, service,
      redfish::FindWait(tasks.catalogs.at(tasks.pairs[pair].capture).catalog->candidates()));
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
  const bool sparing = looks == Looks::kWhereNeeded;
  const auto outcome = redfish::RunPlan(
      plan, expert,
      {.attempts = static_cast<int>(tasks.limits[pair]),
       .pause = std::chrono::seconds(tasks.options.wait_seconds),
       .looks = static_cast<int>(tasks.limits[pair]),
       .unseen = sparing,
       .captured = sparing ? std::function<const Json*(const std::string&)>(captured) : nullptr});
  PlayedEpisode played{.steps = {}, .facts = environment.facts()};
  SHOAL_RETURN_IF_ERROR(Judge(expert, played.facts, outcome.status()));
  played.steps = expert.TakeSteps();
  return played;
}

}  // namespace shoal::actor
