// SPDX-License-Identifier: Apache-2.0
#include "tests/rl/estimators/tabular_process.h"

#include <cmath>

#include "platform/runtime/random.h"

namespace shoal::estimators {
namespace {

constexpr double kGamma = 0.8;

// Fills `row` with random probabilities, none of them small.
void FillProbabilities(double* row, std::size_t size, runtime::Random& random) {
  double sum = 0;
  for (std::size_t i = 0; i < size; ++i) sum += row[i] = 0.2 + random.Uniform();
  for (std::size_t i = 0; i < size; ++i) row[i] /= sum;
}

// Solves `matrix` x = `right` by Gauss-Jordan elimination. The matrix is diagonally dominant.
std::vector<double> Solve(std::vector<std::vector<double>> matrix, std::vector<double> right) {
  const std::size_t size = right.size();
  for (std::size_t pivot = 0; pivot < size; ++pivot) {
    for (std::size_t row = 0; row < size; ++row) {
      if (row == pivot) continue;
      const double factor = matrix[row][pivot] / matrix[pivot][pivot];
      for (std::size_t i = pivot; i < size; ++i) matrix[row][i] -= factor * matrix[pivot][i];
      right[row] -= factor * right[pivot];
    }
  }
  for (std::size_t row = 0; row < size; ++row) right[row] /= matrix[row][row];
  return right;
}

}  // namespace

TabularProcess::TabularProcess(std::uint64_t seed)
    : transition_(kStates * kActions * kStates),
      reward_(kStates * kActions),
      terminates_(kStates * kActions),
      truncates_(kStates * kActions) {
  runtime::Random random(seed);
  for (std::size_t pair = 0; pair < reward_.size(); ++pair) {
    FillProbabilities(&transition_[pair * kStates], kStates, random);
    reward_[pair] = 0.2 * random.Normal();
  }
  terminates_[At(1, 0)] = true;
  truncates_[At(2, 1)] = true;
}

TabularProcess::Table TabularProcess::RandomPolicy(std::uint64_t seed) const {
  runtime::Random random(seed);
  Table policy(kStates * kActions);
  for (std::size_t state = 0; state < kStates; ++state) {
    FillProbabilities(&policy[At(state, 0)], kActions, random);
  }
  return policy;
}

std::vector<double> TabularProcess::ValueOf(const Table& policy) const {
  std::vector<std::vector<double>> matrix(kStates, std::vector<double>(kStates));
  std::vector<double> right(kStates);
  for (std::size_t state = 0; state < kStates; ++state) {
    matrix[state][state] = 1;
    for (std::size_t action = 0; action < kActions; ++action) {
      const std::size_t pair = At(state, action);
      right[state] += policy[pair] * reward_[pair];
      for (std::size_t next = 0; next < kStates; ++next) {
        matrix[state][next] -=
            policy[pair] * discount(state, action) * transition_[pair * kStates + next];
      }
    }
  }
  return Solve(std::move(matrix), std::move(right));
}

TabularProcess::Table TabularProcess::ActionValueOf(const Table& policy) const {
  const std::vector<double> value = ValueOf(policy);
  Table action_value = reward_;
  for (std::size_t state = 0; state < kStates; ++state) {
    for (std::size_t action = 0; action < kActions; ++action) {
      const std::size_t pair = At(state, action);
      for (std::size_t next = 0; next < kStates; ++next) {
        action_value[pair] +=
            discount(state, action) * transition_[pair * kStates + next] * value[next];
      }
    }
  }
  return action_value;
}

double TabularProcess::discount(std::size_t state, std::size_t action) const {
  return terminates_[At(state, action)] ? 0 : kGamma;
}

double TabularProcess::trace(std::size_t state, std::size_t action, double lambda) const {
  const std::size_t pair = At(state, action);
  return terminates_[pair] || truncates_[pair] ? 0 : lambda;
}

void TabularProcess::ForEachSequence(
    std::size_t state, std::size_t action, std::size_t length, const Table& policy,
    const std::function<void(double, const Sequence&)>& visit) const {
  Sequence sequence = {{.state = state, .action = action}};
  Extend(1, length, policy, sequence, visit);
}

void TabularProcess::Extend(double probability, std::size_t length, const Table& policy,
                            Sequence& sequence,
                            const std::function<void(double, const Sequence&)>& visit) const {
  const std::size_t last = sequence.size() - 1;
  const std::size_t pair = At(sequence[last].state, sequence[last].action);
  for (std::size_t next = 0; next < kStates; ++next) {
    sequence[last].next = next;
    const double reached = probability * transition_[pair * kStates + next];
    if (sequence.size() == length) {
      visit(reached, sequence);
      continue;
    }
    for (std::size_t action = 0; action < kActions; ++action) {
      sequence.push_back({.state = next, .action = action});
      Extend(reached * policy[At(next, action)], length, policy, sequence, visit);
      sequence.pop_back();
    }
  }
}

}  // namespace shoal::estimators
