// SPDX-License-Identifier: Apache-2.0
#include "cli/results/evaluation_text.h"

#include <absl/strings/str_format.h>

#include "platform/runtime/log.h"

namespace shoal::cli {
namespace {

std::string GivenUpText(const GivenUpPair& pair, const std::string& reason) {
  return pair.goal + " on " + pair.capture + ": " + reason;
}

}  // namespace

std::string EvaluationNote(const Evaluation& evaluation) {
  const Score score = evaluation.Total("learned");
  if (!evaluation.has_goals) return absl::StrFormat("return %.1f", score.mean_return());
  std::string note =
      absl::StrFormat("success %.3f  clean %.2f", score.success_rate(), score.clean_rate());
  if (const auto ratio = score.mutations_per_optimal()) {
    note += absl::StrFormat("  mutations/W %.2f", *ratio);
  }
  note += "  (" + std::to_string(score.episodes) + " episodes)";
  for (const auto& [pair, reason] : evaluation.given_up) {
    note += "\n  given up: " + GivenUpText(pair, reason);
  }
  return note;
}

std::string ResultText(const Evaluation& evaluation, const std::string& held_out) {
  const Score score = evaluation.Total("learned", "", "", held_out);
  std::string line = "result ";
  if (evaluation.has_goals) {
    line += absl::StrFormat("success=%.3f episodes=%d steps_per_optimal=%.3f", score.success_rate(),
                            score.episodes, score.steps_per_optimal().value_or(0));
    if (!evaluation.given_up.empty()) {
      std::string pairs;
      for (const auto& [pair, reason] : evaluation.given_up) {
        pairs += (pairs.empty() ? "" : "; ") + GivenUpText(pair, reason);
      }
      line += " given_up_pairs=" + std::to_string(evaluation.given_up.size()) +
              " given_up=" + runtime::Quoted(pairs);
    }
  } else {
    line += absl::StrFormat("greedy=%.1f", score.mean_return());
  }
  return line;
}

}  // namespace shoal::cli
