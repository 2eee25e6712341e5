// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/fleet_environment.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "actor/environments/reward.h"
#include "platform/runtime/random.h"
#include "redfish/capture/uri.h"

namespace shoal::actor {
namespace {

using runtime::DeriveSeed;
using runtime::Random;

constexpr std::array kTrainWords = {
    "Power budget for all of these servers together: {B} W, {W} W for each that runs. As far as it "
    "goes:",
    "Together the servers draw at most {B} W, and each {W} W while it is on. Within that:",
    "With no more than {B} W in all ({W} W a running server):"};
constexpr std::array kEvaluationWords = {
    "Never exceed {B} W in sum; one server that is up takes {W} W. So far as possible:",
    "The rack has {B} W and a running server needs {W} W. Do what it allows:"};

// Gives each member an environment id of its own, so that its episodes differ from all others. The
// bit of evaluations is kept.
EpisodeStart MemberStart(const EpisodeStart& start, std::size_t member, std::size_t pair) {
  const std::uint64_t id =
      DeriveSeed(start.environment_id, "member/" + std::to_string(member)) >> 1;
  return {.environment_id = id | (start.environment_id & kEvaluationEnvironments),
          .episode = start.episode,
          .pair = pair,
          .evaluation = start.evaluation,
          .fault_share = start.fault_share};
}

std::string Fill(std::string text, const std::string& name, std::int64_t value) {
  const std::size_t at = text.find(name);
  return at == std::string::npos ? text : text.replace(at, name.size(), std::to_string(value));
}

}  // namespace

EnvironmentSpec FleetEnvironment::Spec() {
  EnvironmentSpec spec = RedfishEnvironment::Spec();
  spec.observation_shape = {kObservationSize};
  spec.tells_goals = false;
  return spec;
}

FleetEnvironment::FleetEnvironment(std::shared_ptr<const FleetTasks> fleet,
                                   std::vector<std::unique_ptr<RedfishService>> services,
                                   const std::shared_ptr<ResponseCache>& response_cache)
    : fleet_(std::move(fleet)) {
  for (std::unique_ptr<RedfishService>& service : services) {
    RedfishService* const own = service.get();
    members_.push_back({.environment = std::make_unique<RedfishEnvironment>(
                            fleet_->tasks, std::move(service), response_cache),
                        .service = own});
  }
}

void FleetEnvironment::ForAll(const Call& call, Then then) {
  struct Open {
    std::size_t left;
    absl::Status status;
    Then then;
  };
  const auto open =
      std::make_shared<Open>(Open{members_.size(), absl::OkStatus(), std::move(then)});
  for (std::size_t i = 0, count = members_.size(); i < count; ++i) {
    call(i, [open](const absl::Status& status) {
      if (open->status.ok()) open->status = status;
      if (--open->left == 0) open->then(open->status);
    });
  }
}

void FleetEnvironment::Look(std::size_t index, Then then) {
  members_[index].service->Send(
      {.method = "GET", .uri = catalog_->system},
      [this, index, then = std::move(then)](const absl::StatusOr<ServiceResponse>& response) {
        if (!response.ok()) return then(response.status());
        // A service that is busy or fails keeps the state that was last read.
        if (response->status == 200) {
          const std::string state = redfish::TextAt(*JsonOf(*response), "PowerState");
          if (!state.empty()) members_[index].is_on = state != "Off";
        }
        then(absl::OkStatus());
      });
}

void FleetEnvironment::Reset(const EpisodeStart& start, Done done) {
  pair_ =
      start.pair
          ? *start.pair
          : static_cast<std::size_t>((start.environment_id + start.episode) % fleet_->pairs.size());
  catalog_ = &fleet_->catalogs.at(fleet_->pairs[pair_].capture);
  const auto reset = [this, start](std::size_t index, Then then) {
    members_[index].environment->Reset(
        MemberStart(start, index, pair_),
        [this, index, then = std::move(then)](absl::StatusOr<Transition> transition) {
          if (!transition.ok()) return then(transition.status());
          if (index == 0) last_ = std::move(transition->observation);
          Look(index, then);
        });
  };
  ForAll(reset, [this, start, done = std::move(done)](const absl::Status& status) {
    if (!status.ok()) return done(status);
    Begin(start);
    done(Transition{.observation = Observe()});
  });
}

void FleetEnvironment::Begin(const EpisodeStart& start) {
  std::int64_t on = 0;
  for (Member& member : members_) {
    member.was_off = !member.is_on;
    const nlohmann::json& predicate = member.environment->episode().watch->predicate().json();
    member.speaks_of_power = predicate.dump().find("\"/PowerState\"") != std::string::npos;
    on += member.is_on ? 1 : 0;
  }
  const RedfishTasks& tasks = *fleet_->tasks;
  Random random(DeriveSeed(tasks.seed, "fleet"),
                DeriveSeed(start.environment_id, std::to_string(start.episode)));
  const auto count = static_cast<std::int64_t>(members_.size());
  const std::int64_t least = std::max<std::int64_t>(on, 1);
  const auto fit = least + static_cast<std::int64_t>(
                               random.Below(static_cast<std::uint64_t>(count - least + 1)));
  const auto rest = random.Below(static_cast<std::uint64_t>(catalog_->watts));
  budget_watts_ = fit * catalog_->watts + static_cast<std::int64_t>(rest);
  if (tasks.options.power_budget_watts > 0) {
    budget_watts_ = std::max(tasks.options.power_budget_watts, on * catalog_->watts);
  }
  goal_ = inference::client::ContentOf(DrawText(start.evaluation, random()));
  request_ = {};
  tripped_ = false;
  drafting_.reset();
  steps_ = 0;
  progress_ = {};
  progress_ = Sum();
  satisfied_at_start_ = progress_.satisfied;
  optimum_ = Optimum();
}

std::string FleetEnvironment::DrawText(bool evaluation, std::uint64_t draw) const {
  std::string text = evaluation ? kEvaluationWords[draw % kEvaluationWords.size()]
                                : kTrainWords[draw % kTrainWords.size()];
  text = Fill(Fill(std::move(text), "{B}", budget_watts_), "{W}", catalog_->watts);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    text += " " + MemberName(i) + ": " + members_[i].environment->episode().text;
  }
  return text;
}

std::int64_t FleetEnvironment::Optimum() const {
  std::int64_t optimum = 0;
  std::vector<std::int64_t> turned_on;
  for (const Member& member : members_) {
    if (member.environment->facts().success) continue;
    const std::int64_t own = member.environment->episode().optimum;
    if (member.was_off && member.speaks_of_power) {
      turned_on.push_back(own);
    } else {
      optimum += own;
    }
  }
  std::sort(turned_on.begin(), turned_on.end());
  std::int64_t room = (budget_watts_ - drawn_watts()) / catalog_->watts;
  for (const std::int64_t own : turned_on) optimum += room-- > 0 ? own : 0;
  return optimum;
}

void FleetEnvironment::Step(std::int64_t action, Done done) {
  const auto index = static_cast<std::size_t>(action);
  const std::size_t wait = members_.size() * catalog_->actions;
  const bool drafts = drafting_.has_value();
  if (!drafts && (action < 0 || index > wait)) {
    done(runtime::InvalidArgument("action " + std::to_string(action) +
                                  " is not in the catalog of " + std::to_string(wait + 1)));
    return;
  }
  if (!drafts) request_ = catalog_->candidates->candidates()[index];
  const auto step = [this](std::size_t member, std::int64_t own, Then then) {
    const int mutations = members_[member].environment->facts().mutations;
    members_[member].environment->Step(own, [this, member, own, mutations, then = std::move(then)](
                                                absl::StatusOr<Transition> transition) {
      if (!transition.ok()) return then(transition.status());
      last_ = std::move(transition->observation);
      last_status_ = members_[member].environment->last_status();
      last_repeated_ = members_[member].environment->last_repeated();
      if (members_[member].environment->draft().is_open()) {
        drafting_ = member;
        return then(absl::OkStatus());
      }
      drafting_.reset();
      const bool waited = own == catalog_->wait;
      const bool mutated = members_[member].environment->facts().mutations > mutations;
      if (!waited && !mutated) return then(absl::OkStatus());
      Look(member, then);
    });
  };
  const Then conclude = [this, done = std::move(done)](const absl::Status& status) {
    if (!status.ok()) return done(status);
    if (drafting_) {
      const auto cost = static_cast<float>(fleet_->tasks->options.rewards.choice);
      return done(Transition{.observation = Observe(), .reward = cost});
    }
    ++steps_;
    Conclude(done);
  };
  if (drafts) {
    step(*drafting_, action, conclude);
    return;
  }
  if (index < wait) {
    step(index / catalog_->actions, static_cast<std::int64_t>(index % catalog_->actions), conclude);
    return;
  }
  ForAll([this, step](std::size_t member, Then then) { step(member, catalog_->wait, then); },
         conclude);
}

void FleetEnvironment::Conclude(const Done& done) {
  const redfish::Progress before = progress_;
  tripped_ = tripped_ || drawn_watts() > budget_watts_;
  progress_ = Sum();
  const RedfishTasks& tasks = *fleet_->tasks;
  Verdict verdict =
      Judge(tasks.options.rewards, {.status = last_status_,
                                    .before = before,
                                    .after = progress_,
                                    .milestone_count = static_cast<std::int64_t>(members_.size()),
                                    .last = steps_ >= tasks.options.episode_limit,
                                    .repeated = last_repeated_});
  if (tripped_) verdict.reward += static_cast<float>(tasks.options.rewards.over_budget);
  done(Transition{.observation = Observe(),
                  .reward = verdict.reward,
                  .end = verdict.ends || tripped_ ? End::kTerminated : End::kNone});
}

std::int64_t FleetEnvironment::drawn_watts() const {
  const auto on = std::count_if(members_.begin(), members_.end(),
                                [](const Member& member) { return member.is_on; });
  return on * catalog_->watts;
}

bool FleetEnvironment::HasRoom() const { return drawn_watts() + catalog_->watts <= budget_watts_; }

bool FleetEnvironment::IsReached(const Member& member) const {
  if (member.environment->facts().success) return true;
  return member.was_off && !member.is_on && member.speaks_of_power && !HasRoom();
}

// Milestones that were reached stay reached.
redfish::Progress FleetEnvironment::Sum() const {
  redfish::Progress sum{.satisfied = !tripped_, .milestones = progress_.milestones};
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const EpisodeFacts facts = members_[i].environment->facts();
    if (facts.success) sum.milestones |= std::uint64_t{1} << i;
    sum.collateral += facts.collateral;
    sum.satisfied = sum.satisfied && IsReached(members_[i]);
  }
  return sum;
}

Observation FleetEnvironment::Observe() const {
  Observation observation = last_;
  const float used =
      static_cast<float>(steps_) / static_cast<float>(fleet_->tasks->options.episode_limit);
  observation.numeric[6] = 1.0F - used;
  observation.numeric[7] = used;
  const auto drawn = static_cast<float>(drawn_watts());
  const auto budget = static_cast<float>(budget_watts_);
  const std::int64_t room = (budget_watts_ - drawn_watts()) / catalog_->watts;
  observation.numeric.push_back(drawn / budget);
  observation.numeric.push_back(static_cast<float>(room) / static_cast<float>(members_.size()));
  observation.contents[0] = goal_;
  if (drafting_) {
    // The choice is the member's, and so are the request and the list.
    const RequestDraft& draft = members_[*drafting_].environment->draft();
    if (draft.state() != RequestDraft::State::kChoosingValue) observation.contents[3] = goal_;
    return observation;
  }
  observation.contents[1] = request_;
  observation.contents[3] = goal_;
  observation.catalog = catalog_->candidates;
  observation.marks.clear();
  for (std::size_t member = 0; member < members_.size(); ++member) {
    const std::size_t first = member * catalog_->actions;
    for (const model::CandidateMark& mark : members_[member].environment->marks()) {
      // A fleet offers no candidates beyond those of its members' catalogs, and one `wait` for all.
      const bool is_wait = static_cast<std::int64_t>(mark.candidate) == catalog_->wait;
      if (mark.candidate >= catalog_->actions || is_wait) continue;
      if (observation.marks.size() >= EpisodeMemory::kMaximumMarks) break;
      observation.marks.push_back({static_cast<std::uint32_t>(first + mark.candidate), mark.bits});
    }
  }
  return observation;
}

EpisodeFacts FleetEnvironment::facts() const {
  EpisodeFacts facts;
  facts.goal = fleet_->pairs[pair_].goal;
  facts.capture = fleet_->pairs[pair_].capture;
  facts.steps = steps_;
  for (const Member& member : members_) {
    const EpisodeFacts own = member.environment->facts();
    facts.mutations += own.mutations;
    facts.client_errors += own.client_errors;
  }
  facts.collateral = static_cast<int>(progress_.collateral);
  facts.optimum = static_cast<int>(optimum_);
  facts.success = progress_.satisfied;
  facts.clean = facts.success && facts.collateral == 0;
  facts.satisfied_at_start = satisfied_at_start_;
  return facts;
}

}  // namespace shoal::actor
