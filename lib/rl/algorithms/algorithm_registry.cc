// SPDX-License-Identifier: Apache-2.0
#include "rl/algorithms/algorithm_registry.h"

#include <string>

#include "rl/algorithms/algorithm.h"

namespace shoal::algorithms {

std::unique_ptr<const Algorithm> MakeA2c(const AlgorithmOptions& options);
std::unique_ptr<const Algorithm> MakeCem(const AlgorithmOptions& options);
std::unique_ptr<const Algorithm> MakeDqn(const AlgorithmOptions& options);
std::unique_ptr<const Algorithm> MakeGrpo(const AlgorithmOptions& options);
std::unique_ptr<const Algorithm> MakeImpala(const AlgorithmOptions& options);
std::unique_ptr<const Algorithm> MakeIqn(const AlgorithmOptions& options);
std::unique_ptr<const Algorithm> MakePpo(const AlgorithmOptions& options);
std::unique_ptr<const Algorithm> MakeReinforce(const AlgorithmOptions& options);
std::unique_ptr<const Algorithm> MakeSac(const AlgorithmOptions& options);

namespace {

struct Entry {
  const char* name;
  std::unique_ptr<const Algorithm> (*make)(const AlgorithmOptions& options);
};

constexpr Entry kAlgorithms[] = {
    {"a2c", MakeA2c},       {"cem", MakeCem}, {"dqn", MakeDqn}, {"grpo", MakeGrpo},
    {"impala", MakeImpala}, {"iqn", MakeIqn}, {"ppo", MakePpo}, {"reinforce", MakeReinforce},
    {"sac", MakeSac},
};

}  // namespace

std::vector<std::string_view> AlgorithmNames() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kAlgorithms) names.emplace_back(entry.name);
  return names;
}

absl::StatusOr<std::unique_ptr<const Algorithm>> MakeAlgorithm(const AlgorithmOptions& options) {
  if (options.update_epochs < 1 || options.minibatches < 1 || options.accumulation_steps < 1) {
    return runtime::InvalidArgument(
        "algorithm.update_epochs, algorithm.minibatches, algorithm.accumulation_steps: at least 1");
  }
  for (const Entry& entry : kAlgorithms) {
    if (options.name == entry.name) return entry.make(options);
  }
  std::string known;
  for (const Entry& entry : kAlgorithms)
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  return runtime::InvalidArgument("algorithm.name: \"" + options.name + "\" is none of " + known);
}

}  // namespace shoal::algorithms
