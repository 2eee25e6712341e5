// SPDX-License-Identifier: Apache-2.0
#include "cli/session/best_version.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/log.h"

namespace shoal::cli {
bool IsBetter(bool has_goals, const Score& score, const Score& other, double highest) {
  constexpr double kAsOften = 0.005;
  if (!has_goals) return score.mean_return() > other.mean_return();
  if (score.success_rate() > other.success_rate() + kAsOften) return true;
  return score.success_rate() >= highest - kAsOften &&
         score.steps_per_optimal().value_or(1e9) < other.steps_per_optimal().value_or(1e9);
}

BestVersion::BestVersion(Options options) : options_(std::move(options)), folder_(options_.folder) {
  ReadScore();
}

void BestVersion::ReadScore() {
  const absl::StatusOr<std::string> text = runtime::ReadFile(options_.folder + "/best.json");
  if (!text.ok()) return;
  const nlohmann::json noted = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!noted.is_object()) return;
  const auto number = [&noted](const char* name) {
    const auto found = noted.find(name);
    return found != noted.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  const auto count = [&number](const char* name) {
    return static_cast<std::int64_t>(std::clamp(number(name), 0.0, 1e15));
  };
  const auto name = noted.find("version");
  if (name == noted.end() || !name->is_string()) return;
  const auto version = parameters::ParseVersion(name->get<std::string>());
  if (!version || !folder_.Load(*version).ok()) return;
  const runtime::MutexLock lock(mutex_);
  highest_ = number("highest");
  kept_ = version;
  best_ = Score{.episodes = count("episodes"),
                .successes = count("successes"),
                .success_steps = count("success_steps"),
                .success_optimum = count("success_optimum"),
                .return_sum = number("return_sum")};
}

absl::Status BestVersion::WriteScoreLocked(const parameters::Version& version,
                                           const Score& score) const {
  const nlohmann::json noted = {{"version", parameters::ToString(version)},
                                {"highest", highest_},
                                {"episodes", score.episodes},
                                {"successes", score.successes},
                                {"success_steps", score.success_steps},
                                {"success_optimum", score.success_optimum},
                                {"return_sum", score.return_sum}};
  return runtime::WriteFileAtomically(options_.folder + "/best.json", noted.dump(1) + "\n");
}

absl::StatusOr<std::unique_ptr<BestVersion>> BestVersion::Create(Options options) {
  auto best = std::unique_ptr<BestVersion>(new BestVersion(std::move(options)));
  SHOAL_ASSIGN_OR_RETURN(
      best->fetcher_,
      parameters::Fetcher::Create(
          {.address = best->options_.learner, .client = "session"},
          [kept = best.get()](const parameters::WantedVersion& wanted, auto fetched) {
            kept->Keep(wanted, std::move(fetched));
          }));
  return best;
}

void BestVersion::Observe(const std::string& name, const Evaluation& evaluation) {
  const std::optional<parameters::Version> version = parameters::ParseVersion(name);
  const Score score = evaluation.Total("learned");
  if (!version || score.episodes == 0) return;
  {
    const runtime::MutexLock lock(mutex_);
    highest_ = std::max(highest_, score.success_rate());
    const auto is_better = [&, highest = highest_](const Score& other) {
      return IsBetter(evaluation.has_goals, score, other, highest);
    };
    if (best_ && !is_better(*best_)) return;
    // What is being fetched becomes the best one.
    for (const auto& [fetching, other] : pending_) {
      if (is_better(other)) continue;
      if (!skipped_ || is_better(skipped_->score)) {
        skipped_ = {*version, score, evaluation.has_goals};
      }
      return;
    }
    pending_.insert_or_assign(*version, score);
  }
  fetcher_->Fetch(*version);
}

void BestVersion::Keep(const parameters::WantedVersion& wanted,
                       absl::StatusOr<parameters::Parameters> fetched) {
  absl::Status kept = fetched.status();
  // The folder begins with the run's initial version, which stays beside each best one.
  if (kept.ok() && folder_.List().empty()) {
    const auto initial = parameters::ParametersFolder(options_.learner_folder).LoadInitial();
    kept = initial.ok() ? folder_.Save(*initial) : initial.status();
  }
  if (kept.ok()) kept = folder_.Save(*fetched);
  if (!kept.ok()) {
    spdlog::warn("event=best_version_lost reason={}", runtime::Quoted(kept.ToString()));
  }
  std::optional<parameters::Version> next;
  {
    const runtime::MutexLock lock(mutex_);
    const auto pending = pending_.extract(*wanted);
    if (kept.ok() && !pending.empty()) {
      kept_ = wanted;
      best_ = pending.mapped();
      // A kill leaves a score whose version is there.
      absl::Status noted = WriteScoreLocked(*wanted, *best_);
      if (noted.ok()) noted = folder_.KeepNewest(1);
      if (!noted.ok()) {
        spdlog::warn("event=best_score_lost reason={}", runtime::Quoted(noted.ToString()));
      }
    }
    next = TakeSkippedLocked();
    fetched_.NotifyAll();
  }
  if (next) fetcher_->Fetch(*next);
}

std::optional<parameters::Version> BestVersion::TakeSkippedLocked() {
  if (!pending_.empty() || !skipped_) return std::nullopt;
  const Skipped skipped = *std::exchange(skipped_, std::nullopt);
  if (best_ && !IsBetter(skipped.has_goals, skipped.score, *best_, highest_)) return std::nullopt;
  pending_.insert_or_assign(skipped.version, skipped.score);
  return skipped.version;
}

std::optional<std::string> BestVersion::Await() {
  const runtime::MutexLock lock(mutex_);
  // Each fetch ends within the fetcher's own patience.
  while (!pending_.empty()) fetched_.Wait(mutex_);
  return kept_ ? std::optional(parameters::ToString(*kept_)) : std::nullopt;
}

}  // namespace shoal::cli
