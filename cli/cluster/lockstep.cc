// SPDX-License-Identifier: Apache-2.0
#include "cli/cluster/lockstep.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace shoal::cli {
namespace {

constexpr const char kTable[] = "replay.table[0].";
// More unrolls of an environment than that between two versions are no lock step to speak of.
constexpr std::int64_t kMostUnrolls = 1000;

std::int64_t IntegerOf(const EffectiveConfig& config, const std::string& knob) {
  return config.Integer(knob).value_or(0);
}

absl::StatusOr<std::vector<std::string>> SettingsOfQueue(const EffectiveConfig& config,
                                                         std::int64_t environments) {
  const std::int64_t round = IntegerOf(config, "learner.round_unrolls");
  if (round % environments != 0) {
    return runtime::InvalidArgument(absl::StrFormat(
        "run.deterministic needs a learner.round_unrolls that inference.lockstep_environments "
        "divides: %d and %d",
        round, environments));
  }
  if (IntegerOf(config, "learner.publish_every_updates") != 1) {
    return runtime::InvalidArgument(
        "run.deterministic needs learner.publish_every_updates = 1: each round waits for the "
        "version after it");
  }
  return std::vector<std::string>{
      absl::StrFormat("inference.lockstep_unrolls=%d", round / environments)};
}

// Items may leave the table to make room alone, not by a clock nor when they have been sampled.
absl::Status CheckTable(const EffectiveConfig& config) {
  for (const char* const knob : {"max_times_sampled", "max_staleness", "max_age_seconds"}) {
    if (config.Number(kTable + std::string(knob)).value_or(0) == 0) continue;
    return runtime::InvalidArgument(absl::StrFormat(
        "run.deterministic needs %s%s = 0: what the table holds may depend on inserts alone",
        kTable, knob));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> SettingsOfTable(const EffectiveConfig& config,
                                                         std::int64_t environments) {
  SHOAL_RETURN_IF_ERROR(CheckTable(config));
  const double ratio = config.Number(kTable + std::string("samples_per_insert")).value_or(0);
  if (!(ratio > 0)) {
    return runtime::InvalidArgument(
        absl::StrFormat("run.deterministic needs %ssamples_per_insert above 0: it says how many "
                        "updates there are between two rounds",
                        kTable));
  }
  const std::int64_t sampled = IntegerOf(config, "learner.round_unrolls");
  const double updates_of_each =
      ratio * static_cast<double>(environments) / static_cast<double>(sampled);
  for (std::int64_t unrolls = 1; unrolls <= kMostUnrolls; ++unrolls) {
    const double updates = updates_of_each * static_cast<double>(unrolls);
    if (updates < 0.5 || std::abs(updates - std::round(updates)) > 1e-9 * updates) continue;
    const std::int64_t inserted = environments * unrolls;
    const std::int64_t least = IntegerOf(config, kTable + std::string("min_size"));
    const std::int64_t rounds = std::max<std::int64_t>(1, (least + inserted - 1) / inserted);
    return std::vector<std::string>{
        absl::StrFormat("inference.lockstep_unrolls=%d", unrolls),
        absl::StrFormat("inference.lockstep_fill_unrolls=%d", rounds * unrolls),
        absl::StrFormat("learner.publish_every_updates=%.0f", updates)};
  }
  return runtime::InvalidArgument(absl::StrFormat(
      "run.deterministic needs a whole number of updates between two rounds: %g samples of each of "
      "%d environments' unrolls (%ssamples_per_insert, inference.lockstep_environments) do not "
      "make updates of %d (learner.round_unrolls)",
      ratio, environments, kTable, sampled));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> LockstepSettings(const EffectiveConfig& config,
                                                          std::int64_t actors) {
  // The learner refuses it, whatever the numbers are.
  if (config.Text("learner.gradients") == "asynchronous") return std::vector<std::string>();
  const std::int64_t environments = IntegerOf(config, "inference.lockstep_environments");
  const std::int64_t played = actors * IntegerOf(config, "actor.environments");
  if (environments != played || environments < 1) {
    return runtime::InvalidArgument(absl::StrFormat(
        "run.deterministic needs inference.lockstep_environments = %d, the actor.environments of "
        "all actors; it is %d",
        played, environments));
  }
  return config.Text(kTable + std::string("sampler")) == "fifo"
             ? SettingsOfQueue(config, environments)
             : SettingsOfTable(config, environments);
}

}  // namespace shoal::cli
