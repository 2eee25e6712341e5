// SPDX-License-Identifier: Apache-2.0
// What an agent acts in, one episode after the other.
//
// Asynchronous, because a service answers over HTTP: Reset and Step take a completion, which runs
// on the environment's thread, inline for environments in process. Not thread-safe: one thread uses
// an environment. At most one Reset or Step is under way. An environment may be destroyed while one
// is; its completion then never runs.
//
// Everything that an environment draws is a function of (seed, environment, episode).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inference/client/row.h"
#include "platform/runtime/status.h"

namespace shoal::actor {

// What a policy needs to know of an environment's kind.
struct EnvironmentSpec {
  // One FLOAT32 [observation_size] tensor.
  std::string observation_name = "";
  std::int64_t observation_size = 0;
  // Names of the content fields, in the order of Observation::contents.
  std::vector<std::string> content_fields = {};
  // Discrete actions; 0: candidates of a catalog.
  std::int64_t actions = 0;
};

struct Observation {
  // [observation_size].
  std::vector<float> numeric = {};
  // One per content field.
  std::vector<inference::client::ContentReference> contents = {};
  // Null unless actions are candidates.
  std::shared_ptr<const inference::client::CandidateList> catalog = nullptr;
};

enum class End : std::uint8_t {
  kNone,
  // By the environment's own rules; there is no observation to learn from.
  kTerminated,
  // Cut off by the system; the final observation counts.
  kTruncated,
};

struct Transition {
  Observation observation = {};
  // Of the action before; 0 after Reset.
  float reward = 0;
  End end = End::kNone;
};

// One thing to do on one service; environments cycle over the pairs that they were made with.
struct Pair {
  std::string goal = "";
  std::string capture = "";
};

struct EpisodeStart {
  std::uint64_t environment_id = 0;
  // Counts this environment's episodes; a repeated number is a repeated episode.
  std::uint64_t episode = 0;
  // Index into the pairs; nothing: the environment's own turn.
  std::optional<std::size_t> pair = std::nullopt;
  // Texts and values that training never sees.
  bool evaluation = false;
};

// What the log and the report say about an episode. Never part of an observation.
struct EpisodeFacts {
  std::string goal = "";
  std::string capture = "";
  int steps = 0;
  // Requests that change something.
  int mutations = 0;
  // Responses with a 4xx status.
  int client_errors = 0;
  // Writable properties that changed and should not have.
  int collateral = 0;
  // The least mutations that reach this goal from this start.
  int optimum = 0;
  bool success = false;
  // Success without collateral.
  bool clean = false;
  bool satisfied_at_start = false;
};

class Environment {
 public:
  using Done = std::function<void(absl::StatusOr<Transition>)>;

  virtual ~Environment() = default;

  // Begins an episode. UNAVAILABLE and the like mean that the service is lost: back off and try
  // again. INVALID_ARGUMENT, NOT_FOUND and the like mean that it refuses this start.
  virtual void Reset(const EpisodeStart& start, Done done) = 0;
  // REQUIRES: Reset has completed, and no transition since has ended the episode. An error means
  // that the episode is lost.
  virtual void Step(std::int64_t action, Done done) = 0;
  // Of the running or last episode.
  virtual EpisodeFacts facts() const = 0;
};

}  // namespace shoal::actor
