// SPDX-License-Identifier: Apache-2.0
// Goals of the suite on instances of the shipped captures, and an expert that sends requests to
// one.
#pragma once

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "redfish/goals/goal.h"
#include "redfish/goals/plan.h"
#include "tests/mockserver/service/worlds.h"

namespace shoal::mockserver {

using AppliedGoals = std::vector<std::shared_ptr<const redfish::AppliedGoal>>;

// Returns the goals of data/goals and of data/reading that apply.
inline const AppliedGoals& GoalsOf(const std::string& capture) {
  static const redfish::GoalSuite suite = [] {
    redfish::GoalSuite goals = redfish::LoadGoals("data/goals").value();
    const redfish::GoalSuite reading = redfish::LoadGoals("data/reading").value();
    goals.insert(goals.end(), reading.begin(), reading.end());
    return goals;
  }();
  static std::map<std::string, AppliedGoals> applied;
  const auto [goals, is_new] = applied.try_emplace(capture);
  if (is_new) {
    const auto found = redfish::ApplyGoals(suite, WorldOf(capture)->capture());
    INFO(found.status().message());
    REQUIRE(found.ok());
    goals->second = *found;
  }
  return goals->second;
}

// Returns null if the goal does not apply.
inline const redfish::AppliedGoal* FindGoal(const std::string& capture, const std::string& name) {
  for (const auto& goal : GoalsOf(capture)) {
    if (goal->goal().name() == name) return goal.get();
  }
  return nullptr;
}

// Returns whether some episode starts in the situation.
inline bool CanStart(const redfish::AppliedGoal& goal, const std::string& situation) {
  for (std::uint64_t number = 0; number < 200; ++number) {
    const auto episode = goal.DrawEpisode(5, number, redfish::Split::kTrain);
    if (episode->situation == situation) return true;
  }
  return false;
}

inline absl::Status Begin(Instance& instance, const redfish::Episode& episode) {
  return instance.Reset(episode.start, episode.watch);
}

// A mutating request, and whether it came with a session's token.
struct Move {
  std::string method;
  std::string uri;
  Json body;
  bool by_session = false;
  auto operator<=>(const Move& other) const {
    return std::tie(method, uri, by_session) == std::tie(other.method, other.uri, other.by_session)
               ? body.dump() <=> other.body.dump()
               : std::tie(method, uri, by_session) <=>
                     std::tie(other.method, other.uri, other.by_session);
  }
  bool operator==(const Move& other) const { return (*this <=> other) == 0; }
};

// Sends the move and returns its status. `token` is the token of the last login and is updated.
inline int Make(Instance& instance, const Move& move, std::string& token) {
  const std::string body = move.body.is_null() ? std::string() : move.body.dump();
  const Response response =
      instance.Handle({.method = ParseMethod(move.method),
                       .uri = move.uri,
                       .body = body,
                       .auth_token = move.by_session ? token : std::string_view()});
  const std::string given = response.Header("X-Auth-Token");
  if (!given.empty()) token = given;
  return response.status;
}

class InstanceClient : public redfish::PlanClient {
 public:
  explicit InstanceClient(Instance& instance) : instance_(instance) {}

  redfish::PlanReply Send(const redfish::PlanRequest& request) override {
    if (request.method != "GET") {
      moves_.push_back({request.method, request.uri, request.body, !request.token.empty()});
    }
    const std::string body = request.body.is_null() ? std::string() : request.body.dump();
    const Response response = instance_.Handle({.method = ParseMethod(request.method),
                                                .uri = request.uri,
                                                .body = body,
                                                .auth_token = request.token});
    return {.status = response.status,
            .body = response.json == nullptr ? Json() : *response.json,
            .location = response.location,
            .token = response.Header("X-Auth-Token")};
  }
  void Wait(std::chrono::seconds time) override { instance_.Advance(time); }

  // Returns the requests that were sent, except GETs.
  const std::vector<Move>& moves() const { return moves_; }

 private:
  Instance& instance_;
  std::vector<Move> moves_;
};

}  // namespace shoal::mockserver
