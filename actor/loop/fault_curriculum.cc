// SPDX-License-Identifier: Apache-2.0
#include "actor/loop/fault_curriculum.h"

#include <algorithm>
#include <cstddef>

namespace shoal::actor {

void CurriculumOptions::Visit(runtime::Visitor& visitor) {
  visitor.Knob("stages", stages,
               {.help = "in which training widens what episodes may meet of environment.faults; 0: "
                        "they meet all from the first one on",
                .min = 0,
                .max = 1000});
  visitor.Knob("success", success,
               {.help = "share of a stage's last episodes that succeed when the next one begins",
                .min = 0,
                .max = 1});
  visitor.Knob("episodes", episodes,
               {.help = "which count for that, and the fewest of a stage",
                .unit = "episodes",
                .min = 1,
                .max = 1e6});
}

double FaultCurriculum::ShareOf(std::int64_t stage) const {
  if (options_.stages == 0) return 1;
  return static_cast<double>(stage) / static_cast<double>(options_.stages);
}

bool FaultCurriculum::Note(double share, bool success) {
  if (stage_ == options_.stages || share != ShareOf(stage_)) return false;
  const auto window = static_cast<std::size_t>(options_.episodes);
  successes_.push_back(success);
  if (successes_.size() > window) successes_.pop_front();
  if (successes_.size() < window) return false;
  const auto succeeded = std::count(successes_.begin(), successes_.end(), true);
  if (static_cast<double>(succeeded) < options_.success * static_cast<double>(window)) return false;
  ++stage_;
  successes_.clear();
  return true;
}

}  // namespace shoal::actor
