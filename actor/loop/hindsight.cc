// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/hindsight.h"

#include <algorithm>
#include <utility>

#include "platform/runtime/random.h"

namespace shoal::actor {

void HindsightOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob("strategy", strategy,
               {.help = "goals under which training episodes are told again: none, those of the "
                        "final step, or any that were achieved; needs action values",
                .choices = {"none", "final", "future"}});
  visitor.Knob(
      "goals", goals,
      {.help = "goals under which an episode is told again at most", .min = 1, .max = 1024});
}

std::vector<std::uint64_t> ChooseGoals(const HindsightOptions& options,
                                       std::span<const Achievement> achieved,
                                       const HindsightDraws& draws) {
  std::vector<std::uint64_t> pool;
  for (const Achievement& one : achieved) {
    if (options.strategy == "final" && one.step != achieved.back().step) continue;
    pool.push_back(one.goal);
  }
  std::vector<std::uint64_t> chosen;
  for (std::size_t i = 0; i < pool.size(); ++i) {
    if (chosen.size() >= static_cast<std::size_t>(options.goals)) break;
    const double uniform = runtime::UniformAt(draws.seed, draws.environment, draws.episode,
                                              static_cast<std::uint32_t>(i));
    const auto offset = static_cast<std::size_t>(uniform * static_cast<double>(pool.size() - i));
    std::swap(pool[i], pool[i + offset]);
    if (std::find(chosen.begin(), chosen.end(), pool[i]) == chosen.end()) chosen.push_back(pool[i]);
  }
  return chosen;
}

}  // namespace shoal::actor
