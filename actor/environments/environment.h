// SPDX-License-Identifier: Apache-2.0
// The interface of an environment, in which an agent acts episode after episode.
//
// Reset and Step are asynchronous because a service may answer over HTTP: their completion runs on
// the environment's thread, inline for environments in process. Not thread-safe: one thread uses an
// environment, and at most one Reset or Step is under way. An environment may be destroyed while
// one is under way. Its completion then never runs.
//
// Everything random in an environment is a function of (seed, environment, episode).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "inference/client/row.h"
#include "platform/runtime/status.h"
#include "platform/runtime/tensor.h"
#include "rl/model/candidate_mark.h"

namespace shoal::actor {

// This bit is set in the environment ids of evaluations, so that ids, seeds and starts never
// coincide with those of training.
inline constexpr std::uint64_t kEvaluationEnvironments = std::uint64_t{1} << 63;

// The facts about an environment that a policy needs.
struct EnvironmentSpec {
  // The one tensor of an observation: its name, and its shape and dtype on the wire.
  std::string observation_name = "";
  runtime::Shape observation_shape = {};
  runtime::DType observation_dtype = runtime::DType::kFloat32;
  // Names of the content fields, in the order of Observation::contents.
  std::vector<std::string> content_fields = {};
  // The number of discrete actions, or 0 when actions are candidates of a catalog or of a box.
  std::int64_t actions = 0;
  // The ends of the box of which actions are points, [n] each; empty for other kinds of actions.
  std::vector<float> action_low = {};
  std::vector<float> action_high = {};
  // The kinds of marks on candidates, or 0 for none.
  std::int64_t candidate_marks = 0;
  // Whether steps tell which goals they achieve, and episodes can be told again under them.
  bool tells_goals = false;

  // The number of elements of an observation.
  std::int64_t observation_size() const {
    return std::accumulate(observation_shape.begin(), observation_shape.end(), std::int64_t{1},
                           std::multiplies<>());
  }
};

struct Observation {
  // [observation_size()], row-major; each number is one that the spec's dtype has.
  std::vector<float> numeric = {};
  // In place of `numeric` its bytes; only where the spec's dtype is UINT8.
  std::string frame = "";
  // One for each content field.
  std::vector<inference::client::ContentReference> contents = {};
  // Null unless actions are candidates.
  std::shared_ptr<const inference::client::CandidateList> catalog = nullptr;
  // What the episode knows of single candidates, ascending.
  std::vector<model::CandidateMark> marks = {};
};

enum class End : std::uint8_t {
  kNone,
  // The episode ended by the environment's own rules. There is no observation to bootstrap from.
  kTerminated,
  // The system cut the episode off. The final observation bootstraps.
  kTruncated,
};

// A goal that the running episode was not given and that a step has achieved all the same.
struct AchievedGoal {
  // What Environment::Relabel knows it by, while the episode is the last one.
  std::uint64_t goal = 0;
  // The goal in words, as the agent would have read it.
  std::string sentence = "";
  // What the step would have earned under this goal.
  float reward = 0;
};

struct Transition {
  Observation observation = {};
  // The reward of the action before, or 0 after Reset.
  float reward = 0;
  End end = End::kNone;
  // Goals that hold now and held neither before this step nor at the start of the episode. Always
  // empty unless the environment was made to tell them.
  std::vector<AchievedGoal> achieved = {};
};

// An episode as it would have been under another goal, up to the step that achieves it.
struct RelabelledEpisode {
  // The start and what followed each action; the last one has terminated.
  std::vector<Transition> transitions = {};
  // One fewer than transitions, at least one.
  std::vector<std::int64_t> actions = {};
};

// A goal on a capture. Environments cycle over the pairs that they were made with.
struct Pair {
  // One of the situations in which its episodes start.
  struct Situation {
    // The share of the episodes that start in it, unless somebody chooses.
    double share = 1.0;
    // Whether nothing is left to do in it.
    bool satisfied = false;
  };

  std::string goal = "";
  std::string capture = "";
  // Empty where episodes cannot be made to start in a certain one.
  std::vector<Situation> situations = {};
};

struct EpisodeStart {
  std::uint64_t environment_id = 0;
  // The number of the episode in this environment. The same number gives the same episode.
  std::uint64_t episode = 0;
  // Index into the pairs, or nothing to let the environment choose the next in its cycle.
  std::optional<std::size_t> pair = std::nullopt;
  // Index into the pair's situations, or nothing to let the environment draw one.
  std::optional<std::size_t> situation = std::nullopt;
  // Whether to use the texts and values that training never sees.
  bool evaluation = false;
  // How much of the worst faults that the options allow the episode may meet, in [0, 1].
  double fault_share = 1;
};

// The facts about an episode for the log and the report. They are never part of an observation.
struct EpisodeFacts {
  std::string goal = "";
  std::string capture = "";
  // The name of the situation in which it started; empty where the goal has none.
  std::string situation = "";
  int steps = 0;
  // Requests that may change something.
  int mutations = 0;
  // Responses with a 4xx status.
  int client_errors = 0;
  // Writable properties that changed and should not have.
  int collateral = 0;
  // The fewest mutations that reach this goal from this start.
  int optimum = 0;
  bool success = false;
  // Success without collateral.
  bool clean = false;
  bool satisfied_at_start = false;
  // The goal's requirements that do not hold, without values, as in "equals /redfish/v1/Systems/1
  // /PowerState", each once. Filled in at the end of an evaluation's episode on a single service.
  std::vector<std::string> open = {};
  // Whether it began with the decisive value exchanged (EnvironmentOptions::exchange).
  bool exchanged = false;
  // The goal's text, and each request with the status of its answer, as in "GET /redfish/v1 200".
  // Values that only the goal knows are named and not shown. Filled in for evaluations of a single
  // service alone.
  std::string text = "";
  std::vector<std::string> requests = {};
};

class Environment {
 public:
  using Done = std::function<void(absl::StatusOr<Transition>)>;

  virtual ~Environment() = default;

  // Begins an episode. UNAVAILABLE and the like mean that the service is lost: back off and try
  // again. INVALID_ARGUMENT, NOT_FOUND and the like mean that the service refuses this start.
  virtual void Reset(const EpisodeStart& start, Done done) = 0;
  // Takes one action. REQUIRES: Reset has completed, and no transition since has ended the episode.
  // An error means that the episode is lost.
  virtual void Step(std::int64_t action, Done done) = 0;
  // The same for an action of the spec's box, [n]. INVALID_ARGUMENT for one that the environment
  // does not have, as any is without a box.
  virtual void StepBox(std::span<const float> action, Done done) {
    done(runtime::InvalidArgument("the environment has no actions of " +
                                  std::to_string(action.size()) + " numbers"));
  }
  // Tells the last episode again under a goal that it achieved: with the observations, rewards and
  // the end that the agent would have met if it had been given this goal and had done the same.
  // FAILED_PRECONDITION where what was done cannot be said under the goal, or would not have
  // reached it. REQUIRES: an episode has ended, and nothing is under way.
  virtual absl::StatusOr<RelabelledEpisode> Relabel(std::uint64_t) {
    return runtime::FailedPrecondition("this environment tells no goals");
  }
  // The facts about the running or last episode.
  virtual EpisodeFacts facts() const = 0;
};

}  // namespace shoal::actor
