// SPDX-License-Identifier: Apache-2.0
#include "cli/results/evaluator.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/cluster/effective_config.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/log.h"
#include "platform/runtime/program.h"

namespace shoal::cli {
namespace {

constexpr int kLastEvaluatorLines = 8;

// Rounds to the digits that matter, as the line is rewritten again and again.
std::string RoughSeconds(double seconds) {
  if (seconds < 10) return absl::StrFormat("%.0f s", std::max(1.0, seconds));
  if (seconds < 100) return absl::StrFormat("%.0f s", std::ceil(seconds / 5) * 5);
  return absl::StrFormat("%.0f min", std::ceil(seconds / 60));
}

// Returns what the first line of an evaluation's output says, or 0 when there is none.
std::size_t PlannedPairs(std::string_view lines) {
  const auto plan = nlohmann::json::parse(lines.substr(0, lines.find('\n')), nullptr, false);
  return plan.is_object() ? plan.value("pairs", std::size_t{0}) : 0;
}

}  // namespace

Evaluator::Evaluator(EvaluatorOptions options, runtime::Clock& clock)
    : options_(std::move(options)), clock_(clock) {}

absl::Status Evaluator::Start(const EvaluationRequest& request) {
  output_path_ = options_.folder + "/" + request.name + ".jsonl";
  log_path_ = options_.folder + "/" + request.name + ".log";
  lines_.clear();
  counted_ = request.episodes;
  const auto played =
      static_cast<std::int64_t>(std::ceil(static_cast<double>(counted_) * request.spare));
  ProcessSpec spec = {.name = request.name,
                      .command = {options_.program, "--config", options_.config_path},
                      .log_path = log_path_};
  AppendSettings({"actor.mode=\"evaluate\"", "actor.metrics_listen=\"\"",
                  "actor.health_listen=\"\"", "actor.evaluate_output=" + TomlText(output_path_),
                  "actor.evaluate_policies=" + TomlList(request.policies),
                  "actor.evaluate_episodes=" + std::to_string(played),
                  "actor.evaluate_counted=" + std::to_string(counted_),
                  "actor.evaluate_seconds=" +
                      std::to_string(std::chrono::duration<double>(request.budget).count()),
                  "actor.evaluate_seed=" + std::to_string(request.seed),
                  "actor.evaluate_captures=" + TomlList(request.captures)},
                 spec.command);
  // Removes the output of an earlier evaluation of this name, which Progress would read.
  std::error_code ignored;
  std::filesystem::remove(output_path_, ignored);
  SHOAL_ASSIGN_OR_RETURN(child_, ChildProcess::Start(spec));
  deadline_ = request.deadline > runtime::Duration{} ? clock_.Now() + request.deadline
                                                     : runtime::TimePoint::max();
  budget_ = request.budget;
  read_bytes_ = 0;
  playing_since_.reset();
  progress_ = {};
  played_.clear();
  policies_ = request.policies;
  return absl::OkStatus();
}

std::optional<absl::StatusOr<Evaluation>> Evaluator::Poll() {
  if (child_ == nullptr) return std::nullopt;
  const std::optional<ExitState> state = child_->Poll();
  if (!state) {
    if (clock_.Now() < deadline_) return std::nullopt;
    child_.reset();
    return WhatWasPlayed();
  }
  child_.reset();
  const absl::Status read = ReadLines();
  if (state->code == runtime::kExitPermanent) {
    return runtime::InvalidArgument("the evaluation cannot be made: " + LastFailure(log_path_));
  }
  if (state->code != 0) {
    return runtime::Internal("the evaluation ended with " + ToString(*state) + ":\n" +
                             LastLines(log_path_, kLastEvaluatorLines));
  }
  SHOAL_RETURN_IF_ERROR(read);
  return ParseEvaluation(lines_, counted_);
}

absl::Status Evaluator::ReadLines() {
  const absl::StatusOr<std::string> text = runtime::ReadFile(output_path_);
  lines_ = text.value_or("");
  lines_.erase(lines_.rfind('\n') + 1);  // The last line may be torn.
  return text.status();
}

absl::StatusOr<Evaluation> Evaluator::Of(const std::string& policy) const {
  return ParseEvaluation(lines_, counted_, policy);
}

bool Evaluator::PlayedAllOf(const std::string& policy) const {
  const std::size_t pairs = PlannedPairs(lines_);
  const absl::StatusOr<Evaluation> played = Of(policy);
  if (!played.ok() || pairs == 0) return false;
  return played->pairs.size() + played->given_up.size() >= pairs &&
         std::all_of(played->pairs.begin(), played->pairs.end(), [this](const auto& pair) {
           return pair.second.episodes + pair.second.satisfied_at_start >= counted_;
         });
}

absl::StatusOr<Evaluation> Evaluator::WhatWasPlayed() {
  ReadLines().IgnoreError();  // Without output nothing was played.
  const std::size_t pairs = PlannedPairs(lines_);
  std::size_t played = pairs;
  for (const std::string& policy : policies_) {
    const absl::StatusOr<Evaluation> of_one = Of(policy);
    played = std::min(played, of_one.ok() ? of_one->pairs.size() + of_one->given_up.size() : 0);
  }
  if (pairs > 0 && played >= pairs) return ParseEvaluation(lines_, counted_);
  return absl::DeadlineExceededError(
      absl::StrFormat("the evaluation took too long: %d of %d pairs were played\n%s", played, pairs,
                      LastLines(log_path_, kLastEvaluatorLines)));
}

std::optional<EvaluationProgress> Evaluator::Progress() {
  if (child_ == nullptr) return std::nullopt;
  std::ifstream output(output_path_);
  output.seekg(read_bytes_);
  for (std::string line; std::getline(output, line) && !output.eof();) {
    read_bytes_ += static_cast<std::int64_t>(line.size()) + 1;
    const nlohmann::json object = nlohmann::json::parse(line, nullptr, false);
    if (!object.is_object()) continue;
    const std::pair<std::string, std::string> pair = {object.value("goal", ""),
                                                      object.value("capture", "")};
    if (object.contains("pairs")) {
      progress_.pairs = object.value("pairs", std::int64_t{0});
      progress_.planned = object.value("episodes", std::int64_t{0});
      planned_of_pair_ = progress_.planned / std::max<std::int64_t>(1, progress_.pairs);
      playing_since_ = clock_.Now();
    } else if (object.contains("given_up")) {
      --progress_.pairs;
      progress_.planned -= planned_of_pair_;
      progress_.played -= std::exchange(played_[pair], 0);
    } else if (object.contains("policy") && !object.value("satisfied_at_start", false)) {
      ++progress_.played;
      ++played_[pair];
    }
  }
  if (!playing_since_) return std::nullopt;
  const double seconds = std::chrono::duration<double>(clock_.Now() - *playing_since_).count();
  const double budget = std::chrono::duration<double>(budget_).count();
  if (progress_.played > 0) {
    const auto open =
        static_cast<double>(std::max<std::int64_t>(0, progress_.planned - progress_.played));
    const double left = seconds * open / static_cast<double>(progress_.played);
    progress_.seconds_left = budget > 0 ? std::min(left, std::max(0.0, budget - seconds)) : left;
  }
  return progress_;
}

std::string ToText(const EvaluationProgress& progress) {
  std::string text = absl::StrFormat("evaluating %d pairs: %d of %d episodes", progress.pairs,
                                     progress.played, progress.planned);
  if (!progress.seconds_left) return text;
  if (*progress.seconds_left <= 0) return text + ", waiting for the last ones";
  return text + ", about " + RoughSeconds(*progress.seconds_left) + " left";
}

std::string Evaluator::CatalogSizes() const {
  constexpr std::string_view kEvent = "event=catalog summary=";
  std::ifstream log(log_path_);
  std::string sizes;
  for (std::string line; std::getline(log, line);) {
    const std::size_t at = line.find(kEvent);
    if (at != std::string::npos)
      sizes += "  " + runtime::Unquoted(std::string_view(line).substr(at + kEvent.size())) + "\n";
  }
  return sizes;
}

}  // namespace shoal::cli
