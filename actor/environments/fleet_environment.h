// SPDX-License-Identifier: Apache-2.0
// An environment of several Redfish services (the members of a fleet) under one agent and one power
// budget.
//
// Each member is a RedfishEnvironment that plays its own episode of one goal. The text of the
// fleet's goal lists the members' goals under the members' names and says how many watts they may
// draw together. A member that is not off draws what its capture says. The fleet's goal is reached
// when every member's goal is. If a member's goal speaks of PowerState and the member was off at
// first, its goal also counts as reached while the budget has no room to turn it on. Drawing more
// than the budget, even for one step, costs rewards.over_budget and ends the episode without
// success.
//
// An action is one member's request, or `wait`, which moves all clocks. Each member's goal is a
// milestone, side effects add up, and the step limit is the fleet's. To the numbers that
// RedfishEnvironment observes the fleet adds the share of the budget that is drawn, and how many
// more members the budget has room for, as a share of all. The candidates are those of the
// capture's catalog for each member: resources that come and go in an episode do not change them.
//
// Members go on past the ends of their own episodes. As with RedfishEnvironment, everything is a
// function of (seed, environment, episode) and the actions. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
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

  // `services` holds one service for each of the fleet_size members. `response_cache` is shared by
  // the environments of one thread.
  FleetEnvironment(std::shared_ptr<const FleetTasks> fleet,
                   std::vector<std::unique_ptr<RedfishService>> services,
                   const std::shared_ptr<ResponseCache>& response_cache);

  void Reset(const EpisodeStart& start, Done done) override;
  void Step(std::int64_t action, Done done) override;
  EpisodeFacts facts() const override;

  // The power budget of the running episode, and what the members draw now.
  std::int64_t budget_watts() const { return budget_watts_; }
  std::int64_t drawn_watts() const;
  const RedfishEnvironment& member(std::size_t index) const { return *members_[index].environment; }

 private:
  struct Member {
    std::unique_ptr<RedfishEnvironment> environment;
    // The service that `environment` owns, borrowed to read PowerState.
    RedfishService* service = nullptr;
    bool is_on = false;
    bool was_off = false;
    // Whether the member's goal speaks of PowerState.
    bool speaks_of_power = false;
  };
  using Then = std::function<void(const absl::Status&)>;
  using Call = std::function<void(std::size_t, Then)>;

  // Calls `call` for each member, and `then` with the first error once all have completed.
  void ForAll(const Call& call, Then then);
  // Reads the member's PowerState and sets is_on.
  void Look(std::size_t index, Then then);
  void Begin(const EpisodeStart& start);
  // The fewest mutations that reach the fleet's goal. Of the members that must be turned on it
  // counts as many as the budget has room for, those with the fewest mutations first.
  std::int64_t Optimum() const;
  std::string DrawText(bool evaluation, std::uint64_t draw) const;
  void Conclude(const Done& done);
  bool IsReached(const Member& member) const;
  bool HasRoom() const;
  redfish::Progress Sum() const;
  Observation Observe() const;

  const std::shared_ptr<const FleetTasks> fleet_;
  std::vector<Member> members_;

  std::size_t pair_ = 0;
  const FleetCatalog* catalog_ = nullptr;
  std::int64_t budget_watts_ = 0;
  inference::client::ContentReference goal_;
  // The observation of the member that acted last, or of one of them after `wait`.
  Observation last_;
  int last_status_ = 0;
  bool last_repeated_ = false;
  inference::client::ContentReference request_;
  redfish::Progress progress_;
  std::int64_t optimum_ = 0;
  bool satisfied_at_start_ = false;
  bool tripped_ = false;
  // The member whose request is being put together.
  std::optional<std::size_t> drafting_;
  int steps_ = 0;
};

}  // namespace shoal::actor
