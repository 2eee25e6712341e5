// SPDX-License-Identifier: Apache-2.0
// Several Redfish services under one agent, with one power budget.
//
// Each member is a RedfishEnvironment with an episode of its own of the same goal; the fleet's goal
// says all of theirs by the members' names, and how many watts they may draw together. A member
// that is not off draws what its capture says. The fleet's goal is reached when each member's is,
// or, where it speaks of power, when the budget has no room to turn that member on, which was off
// at first. Drawing more than the budget, even for one step, costs rewards.over_budget and ends the
// episode without success.
//
// An action is one member's request, or `wait`, which moves all clocks. A milestone is a member's
// goal; side effects add up; the limit of steps is the fleet's. Beyond what RedfishEnvironment
// observes there are the share of the budget that is drawn, and how many more members it has room
// for as a share of all. Members are asked for the catalogs of their captures: what comes and goes
// in an episode has no candidates here.
//
// Members are stepped on past the ends of their own episodes. As RedfishEnvironment: a function of
// (seed, environment, episode) and the actions, not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "actor/environments/environment.h"
#include "actor/environments/fleet_tasks.h"
#include "actor/environments/redfish_environment.h"
#include "actor/environments/redfish_service.h"
#include "actor/environments/response_cache.h"

namespace shoal::actor {

class FleetEnvironment final : public Environment {
 public:
  static constexpr std::int64_t kObservationSize = RedfishEnvironment::kObservationSize + 2;

  static EnvironmentSpec Spec();

  // One service a member, fleet_size of them. `response_cache` is shared by the environments of one
  // thread.
  FleetEnvironment(std::shared_ptr<const FleetTasks> fleet,
                   std::vector<std::unique_ptr<RedfishService>> services,
                   const std::shared_ptr<ResponseCache>& response_cache);

  void Reset(const EpisodeStart& start, Done done) override;
  void Step(std::int64_t action, Done done) override;
  EpisodeFacts facts() const override;

  // Of the running episode.
  std::int64_t budget_watts() const { return budget_watts_; }
  std::int64_t drawn_watts() const;
  const RedfishEnvironment& member(std::size_t index) const { return *members_[index].environment; }

 private:
  struct Member {
    std::unique_ptr<RedfishEnvironment> environment;
    // The environment's own, to look at.
    RedfishService* service = nullptr;
    bool is_on = false;
    bool was_off = false;
    // Its goal speaks of PowerState.
    bool speaks_of_power = false;
  };
  using Then = std::function<void(const absl::Status&)>;
  using Call = std::function<void(std::size_t, Then)>;

  // Calls for each member, and `then` once all are done, with the first error.
  void ForAll(const Call& call, Then then);
  // Whether the member is on.
  void Look(std::size_t index, Then then);
  void Begin(const EpisodeStart& start);
  // Of members that are off and may go on: what is left to do as the budget allows.
  std::int64_t Optimum() const;
  std::string DrawText(bool evaluation, std::uint64_t draw) const;
  void Conclude(const Done& done);
  bool IsReached(const Member& member) const;
  bool HasRoom() const;
  Progress Sum() const;
  Observation Observe() const;

  const std::shared_ptr<const FleetTasks> fleet_;
  std::vector<Member> members_;

  std::size_t pair_ = 0;
  const FleetCatalog* catalog_ = nullptr;
  std::int64_t budget_watts_ = 0;
  inference::client::ContentReference goal_;
  // Of the last action: the member's view of it; for `wait` one member's.
  Observation last_;
  int last_status_ = 0;
  bool last_repeated_ = false;
  inference::client::ContentReference request_;
  Progress progress_;
  std::int64_t optimum_ = 0;
  bool satisfied_at_start_ = false;
  bool tripped_ = false;
  int steps_ = 0;
};

}  // namespace shoal::actor
