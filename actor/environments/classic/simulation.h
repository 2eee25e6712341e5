// SPDX-License-Identifier: Apache-2.0
// The interface of a small task that is computed in the actor itself: a state, a rule by which an
// action changes it, and what an agent sees of it.
//
// A simulation says how a step ends an episode, not how long an episode may last: whoever steps it
// keeps count and truncates at the spec's step limit. Not thread-safe. After construction no method
// allocates memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/check.h"
#include "platform/runtime/random.h"
#include "platform/runtime/tensor.h"

namespace shoal::actor {

struct SimulationSpec {
  // The name under which results list the task.
  std::string name = "";
  // What an observation is on the wire.
  runtime::Shape observation_shape = {};
  runtime::DType observation_dtype = runtime::DType::kFloat32;
  // Actions are the numbers from 0 to actions - 1, or with 0 the points of a box.
  std::int64_t actions = 0;
  // The ends of the box, [n] each; empty where actions are numbers.
  std::vector<float> action_low = {};
  std::vector<float> action_high = {};
  // An episode that has not ended after this many steps is truncated.
  int step_limit = 0;
  // An episode whose rewards add up to at least this much counts as a success in results.
  double success_return = 0;
  // Whether Simulation::goals() are there.
  bool has_goals = false;
};

// The random numbers of one episode, each a function of its index alone.
struct EpisodeDraws {
  std::uint64_t seed = 0;
  std::uint64_t environment = 0;
  std::uint64_t episode = 0;

  // Returns a number uniform in [0, 1).
  double Uniform(std::uint32_t index) const {
    return runtime::UniformAt(seed, environment, episode, index);
  }
  // Returns a number uniform in [low, high).
  double Between(double low, double high, std::uint32_t index) const {
    return low + (high - low) * Uniform(index);
  }
  // Returns an integer uniform in [0, bound). REQUIRES: bound >= 1.
  int Below(int bound, std::uint32_t index) const {
    return static_cast<int>(Uniform(index) * bound);
  }
};

struct SimulationStep {
  float reward = 0;
  // Whether the episode ends by the task's own rules.
  bool terminated = false;
};

// The goals of a simulation whose task is to reach a state that each episode names. A goal is a
// number, such as the bits of a state.
class SimulationGoals {
 public:
  virtual ~SimulationGoals() = default;
  // The goal of the running episode, and the one that the present state is.
  virtual std::uint64_t pursued() const = 0;
  virtual std::uint64_t achieved() const = 0;
  // Gives the running episode another goal. REQUIRES: the episode has begun, and the goal is one
  // that achieved() may return.
  virtual void Pursue(std::uint64_t goal) = 0;
  // The reward of the step that reaches the goal.
  virtual float reward_of_success() const = 0;
  // The goal in words.
  virtual std::string SentenceOf(std::uint64_t goal) const = 0;
};

class Simulation {
 public:
  virtual ~Simulation() = default;

  virtual const SimulationSpec& spec() const = 0;
  // Begins an episode, which is a function of `draws` and the actions.
  virtual void Reset(const EpisodeDraws& draws) = 0;
  // REQUIRES: 0 <= action < spec().actions, and the episode has begun and not terminated.
  virtual SimulationStep Step(std::int64_t action) = 0;
  // The same for a finite point of the spec's box, [n]; without a box nothing happens.
  virtual SimulationStep StepBox(std::span<const float> /*action*/) { return {}; }
  // Writes what the agent sees, row-major. REQUIRES: `out` has as many numbers as the spec's shape.
  virtual void Observe(std::span<float> out) const = 0;
  // The same as bytes. REQUIRES: the spec's dtype is UINT8.
  virtual void ObserveFrame(std::span<std::byte> /*out*/) const { SHOAL_CHECK(false); }
  // Null unless the spec says that there are goals.
  virtual SimulationGoals* goals() { return nullptr; }
};

}  // namespace shoal::actor
