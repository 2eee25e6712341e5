// SPDX-License-Identifier: Apache-2.0
#include "cli/simulation/simulation_result.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace shoal::cli {
namespace {

// A resource that is used less does not limit a cluster.
constexpr double kSaturated = 0.9;
// A share of time that is more than a trifle.
constexpr double kNoticed = 0.1;

nlohmann::json JsonOf(const std::vector<ResourceUse>& uses) {
  nlohmann::json json = nlohmann::json::object();
  for (const ResourceUse& use : uses) json[use.resource] = use.share;
  return json;
}

}  // namespace

std::string LimitOf(const SimulationResult& result) {
  for (const char* const prefix : {"processors", "device", "network", "threads"}) {
    const auto found = std::ranges::find_if(result.resources, [prefix](const ResourceUse& use) {
      return use.share >= kSaturated && use.resource.starts_with(prefix);
    });
    if (found != result.resources.end()) return found->resource;
  }
  const double room = result.environment_time.empty() ? 0 : result.environment_time.back().share;
  if (room > kNoticed && result.learner_waits_share > kNoticed) {
    return "environments and learners wait for each other: the queue is short for so many of them "
           "(replay.table.max_size), or a rank's share of a round is small (learner.round_unrolls)";
  }
  if (result.learner_reduces_share > 3 * kNoticed) return "reductions among learner ranks";
  return "round trips: more environments would use what is idle";
}

std::string ToText(const SimulationResult& result) {
  std::string text = absl::StrFormat(
      "%.0f environment steps/s, %.2f updates/s, %.0f trained rows/s\n"
      "staleness %.2f versions, %.0f %% of the items too old\n"
      "batches of inference have %.1f rows\n\nenvironments wait for\n",
      result.environment_steps_per_second, result.updates_per_second,
      result.learner_rows_per_second, result.staleness, 100 * result.stale_share,
      result.batch_rows);
  const auto line = [&text](const std::string& name, double share) {
    absl::StrAppendFormat(&text, "  %-32s %3.0f %%\n", name, 100 * share);
  };
  for (const ResourceUse& use : result.environment_time) line(use.resource, use.share);
  text += "learners spend their time\n";
  line("without rows", result.learner_waits_share);
  line("reducing gradients", result.learner_reduces_share);
  text += "in use\n";
  for (const ResourceUse& use : result.resources) line(use.resource, use.share);
  text += "processors that each program keeps busy\n";
  for (const ResourceUse& use : result.processor_time) {
    absl::StrAppendFormat(&text, "  %-32s %5.2f\n", use.resource, use.share);
  }
  return text + "limit: " + result.limit + "\n";
}

std::string ToJson(const SimulationResult& result) {
  const nlohmann::json json = {
      {"seconds", result.seconds},
      {"environment_steps_per_second", result.environment_steps_per_second},
      {"updates_per_second", result.updates_per_second},
      {"learner_rows_per_second", result.learner_rows_per_second},
      {"staleness", result.staleness},
      {"stale_share", result.stale_share},
      {"batch_rows", result.batch_rows},
      {"environment_time", JsonOf(result.environment_time)},
      {"learner_waits_share", result.learner_waits_share},
      {"learner_reduces_share", result.learner_reduces_share},
      {"resources", JsonOf(result.resources)},
      {"processor_time", JsonOf(result.processor_time)},
      {"limit", result.limit},
      {"events", result.events}};
  return json.dump() + "\n";
}

}  // namespace shoal::cli
