// SPDX-License-Identifier: Apache-2.0
// An expert in an environment: it plays the plan of a goal and sends each request as the candidate
// that an agent would choose for it.
//
// The expert reads (GET) what its plan's conditions ask about, lets time pass by `wait`, and
// repeats requests that are answered with 412 or 503, as redfish/goals/plan.h describes. It can
// make mistakes on purpose, so that a learner also sees how an expert goes on after one. Not
// thread-safe. The same (data, pair, episode, style) is always played in the same way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "actor/environments/environment.h"
#include "actor/environments/redfish_source.h"
#include "actor/environments/response_cache.h"
#include "platform/runtime/status.h"
#include "redfish/goals/plan.h"

namespace shoal::actor {

struct PlayedStep {
  // The observation on which the expert chose the action.
  Observation observation = {};
  // Index into the observation's catalog.
  std::int64_t action = 0;
  float reward = 0;
};

// When an expert looks before it acts.
enum class Looks : std::uint8_t {
  kAlways,
  // Only where a request depends on what is seen, such as the order of a list or a new resource.
  kWhereNeeded,
};

// How an expert plays.
struct PlayStyle {
  Looks looks = Looks::kAlways;
  // The probability of a mistake before each request of the plan: the expert reads something at
  // random, first sends the request with one wrong value, with two exchanged or without one of its
  // values, or sends a PATCH before another one that the plan has first. A mistake is no step of
  // the played episode, so nobody learns to make it; its reward is added to that of the step
  // before.
  double mistakes = 0;
};

// A whole episode that reached its goal without side effects. Its last step ended it.
struct PlayedEpisode {
  std::vector<PlayedStep> steps;
  // These count mistakes, too.
  EpisodeFacts facts;
  // The number of steps that belonged to mistakes, and of mistakes that could change something.
  int wrong_steps = 0;
  int wrong_mutations = 0;
};

class PlanPlayer {
 public:
  // REQUIRES: `data` has worlds. `data` outlives this.
  explicit PlanPlayer(const RedfishData& data) : data_(data) {}

  // REQUIRES: `pair` is an index of the data's pairs. An error says in one sentence why there is no
  // such episode: NOT_FOUND for a request that is no candidate, FAILED_PRECONDITION for a plan that
  // failed or did not reach the goal.
  absl::StatusOr<PlayedEpisode> Play(std::size_t pair, std::uint64_t episode,
                                     const PlayStyle& style = {});

 private:
  // `later` are requests that an expert may send too early by mistake.
  absl::StatusOr<PlayedEpisode> PlayOnce(std::size_t pair, std::uint64_t episode,
                                         const PlayStyle& style,
                                         const std::vector<redfish::PlanRequest>& later,
                                         std::vector<redfish::PlanRequest>* sent);

  const RedfishData& data_;
  const std::shared_ptr<ResponseCache> response_cache_ = std::make_shared<ResponseCache>();
};

}  // namespace shoal::actor
