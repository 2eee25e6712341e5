// SPDX-License-Identifier: Apache-2.0
#include "cli/results/evaluator.h"

#include <cmath>
#include <fstream>
#include <string_view>
#include <utility>

#include "cli/cluster/effective_config.h"
#include "platform/runtime/atomic_file.h"

namespace shoal::cli {
namespace {

constexpr int kLastEvaluatorLines = 8;

// Undoes runtime::Quoted as far as sentences need it.
std::string Unquoted(std::string text) {
  if (text.size() < 2 || text.front() != '"') return text;
  text = text.substr(1, text.rfind('"') - 1);
  std::erase(text, '\\');
  return text;
}

}  // namespace

Evaluator::Evaluator(EvaluatorOptions options, runtime::Clock& clock)
    : options_(std::move(options)), clock_(clock) {}

absl::Status Evaluator::Start(const EvaluationRequest& request) {
  output_path_ = options_.folder + "/" + request.name + ".jsonl";
  log_path_ = options_.folder + "/" + request.name + ".log";
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
                  "actor.evaluate_seed=" + std::to_string(request.seed),
                  "actor.evaluate_captures=" + TomlList(request.captures)},
                 spec.command);
  SHOAL_ASSIGN_OR_RETURN(child_, ChildProcess::Start(spec));
  deadline_ = clock_.Now() + request.deadline;
  return absl::OkStatus();
}

std::optional<absl::StatusOr<Evaluation>> Evaluator::Poll() {
  if (child_ == nullptr) return std::nullopt;
  const std::optional<ExitState> state = child_->Poll();
  if (!state) {
    if (clock_.Now() < deadline_) return std::nullopt;
    child_.reset();
    return absl::DeadlineExceededError("the evaluation took too long:\n" +
                                       LastLines(log_path_, kLastEvaluatorLines));
  }
  child_.reset();
  if (state->code != 0) {
    return runtime::Internal("the evaluation ended with " + ToString(*state) + ":\n" +
                             LastLines(log_path_, kLastEvaluatorLines));
  }
  absl::StatusOr<std::string> lines = runtime::ReadFile(output_path_);
  if (!lines.ok()) return lines.status();
  return ParseEvaluation(*lines, counted_);
}

std::string Evaluator::CatalogSizes() const {
  constexpr std::string_view kEvent = "event=catalog summary=";
  std::ifstream log(log_path_);
  std::string sizes;
  for (std::string line; std::getline(log, line);) {
    const std::size_t at = line.find(kEvent);
    if (at != std::string::npos) sizes += "  " + Unquoted(line.substr(at + kEvent.size())) + "\n";
  }
  return sizes;
}

}  // namespace shoal::cli
