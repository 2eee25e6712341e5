// SPDX-License-Identifier: Apache-2.0
// A small random Markov decision process in which expectations over sequences and the values of
// policies are computed exactly, as an oracle of estimators.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace shoal::estimators {

// Some pairs of state and action terminate the episode. Some truncate it, which the task does not
// know: the next state has its usual value.
class TabularProcess {
 public:
  using Table = std::vector<double>;  // [S, A]

  // One step of a sequence: the action taken and the state that it led to.
  struct Step {
    std::size_t state = 0;
    std::size_t action = 0;
    std::size_t next = 0;
  };
  using Sequence = std::vector<Step>;

  explicit TabularProcess(std::uint64_t seed);

  static constexpr std::size_t kStates = 4;
  static constexpr std::size_t kActions = 2;
  static std::size_t At(std::size_t state, std::size_t action) { return state * kActions + action; }

  // A policy that takes every action.
  Table RandomPolicy(std::uint64_t seed) const;
  // V of the policy, from its linear equations.
  std::vector<double> ValueOf(const Table& policy) const;
  Table ActionValueOf(const Table& policy) const;

  double reward(std::size_t state, std::size_t action) const { return reward_[At(state, action)]; }
  // 0 where the pair terminates the episode.
  double discount(std::size_t state, std::size_t action) const;
  // 0 where the pair ends the episode either way, otherwise `lambda`.
  double trace(std::size_t state, std::size_t action, double lambda) const;

  // Visits every sequence of `length` steps that begins with `first` and then follows `policy`,
  // with its probability given `first`'s state and action.
  void ForEachSequence(std::size_t state, std::size_t action, std::size_t length,
                       const Table& policy,
                       const std::function<void(double, const Sequence&)>& visit) const;

 private:
  void Extend(double probability, std::size_t length, const Table& policy, Sequence& sequence,
              const std::function<void(double, const Sequence&)>& visit) const;

  std::vector<double> transition_;  // [S, A, S]
  Table reward_;
  std::vector<bool> terminates_;  // [S, A]
  std::vector<bool> truncates_;   // [S, A]
};

}  // namespace shoal::estimators
