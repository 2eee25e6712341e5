// SPDX-License-Identifier: Apache-2.0
#include <absl/strings/str_format.h>

#include <algorithm>

#include "cli/results/evaluation.h"

namespace shoal::cli {
namespace {

using Row = std::vector<std::string>;

std::string Text(double value) { return absl::StrFormat("%.2f", value); }

std::string Text(const std::optional<double>& value) { return value ? Text(*value) : "-"; }

// Pads columns to their widest cell. The first `left` columns are aligned to the left.
std::string Aligned(const std::vector<Row>& rows, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - row[i].size(), ' ');
      line += (i == 0 ? "" : "  ") + (i < left ? row[i] + padding : padding + row[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

Row Figures(const Score& score) {
  return {std::to_string(score.episodes),
          Text(score.success_rate()),
          Text(score.clean_rate()),
          Text(score.steps_per_optimal()),
          Text(score.mutations_per_optimal()),
          Text(score.client_error_rate())};
}

const Row kFigureNames = {"episodes", "success", "clean", "steps/opt", "mutations/W", "4xx/step"};

void Append(Row& row, const Row& more) { row.insert(row.end(), more.begin(), more.end()); }

Row Baselines(const Evaluation& evaluation, const std::vector<std::string>& policies,
              const std::string& goal, const std::string& capture, const std::string& without) {
  Row row;
  for (const std::string& policy : policies) {
    if (policy == "learned") continue;
    const Score score = evaluation.Total(policy, goal, capture, without);
    row.push_back(score.episodes == 0 ? "-" : Text(score.success_rate()));
  }
  return row;
}

// One row for each pair, then one for each goal.
std::string PairTable(const Evaluation& evaluation, const std::string& held_out) {
  const std::vector<std::string> policies = evaluation.policies();
  std::vector<Row> rows;
  Row head = {"goal", "capture"};
  Append(head, kFigureNames);
  for (const std::string& policy : policies) {
    if (policy != "learned") head.push_back(policy == "initial" ? "untrained" : policy);
  }
  rows.push_back(head);
  const auto add = [&](const std::string& goal, const std::string& capture,
                       const std::string& without, const std::string& label) {
    const Score score = evaluation.Total("learned", goal, capture, without);
    if (score.episodes + score.satisfied_at_start == 0) return;
    Row row = {goal, label};
    Append(row, Figures(score));
    Append(row, Baselines(evaluation, policies, goal, capture, without));
    rows.push_back(row);
  };
  for (const std::string& goal : evaluation.goals()) {
    for (const std::string& capture : evaluation.captures()) {
      add(goal, capture, "", capture + (capture == held_out ? " (zero-shot)" : ""));
    }
  }
  for (const std::string& goal : evaluation.goals()) add(goal, "", held_out, "all");
  return Aligned(rows, 2);
}

std::string TotalTable(const Evaluation& evaluation, const std::string& held_out) {
  std::vector<Row> rows;
  Row head = {"policy"};
  Append(head, kFigureNames);
  head.push_back("reached");
  rows.push_back(head);
  const auto add = [&](const std::string& name, const Score& score) {
    Row row = {name};
    Append(row, Figures(score));
    row.push_back(Text(score.reached_rate()));
    rows.push_back(row);
  };
  for (const std::string& policy : evaluation.policies()) {
    const std::string name = policy == "initial" ? "untrained" : policy;
    add(name, evaluation.Total(policy, "", "", held_out));
    if (!held_out.empty()) {
      add(name + ", zero-shot on " + held_out, evaluation.Total(policy, "", held_out));
    }
  }
  return Aligned(rows, 1);
}

// Empty when every pair could be played.
std::string GivenUpTable(const Evaluation& evaluation) {
  if (evaluation.given_up.empty()) return "";
  std::vector<Row> rows = {{"goal", "capture", "given up, as its episodes cannot begin"}};
  for (const auto& [pair, reason] : evaluation.given_up) {
    rows.push_back({pair.goal, pair.capture, reason});
  }
  return "\n" + Aligned(rows, 3);
}

std::string ReturnTable(const Evaluation& evaluation) {
  std::vector<Row> rows = {{"policy", "episodes", "return"}};
  for (const std::string& policy : evaluation.policies()) {
    const Score score = evaluation.Total(policy);
    rows.push_back({policy == "initial" ? "untrained" : policy, std::to_string(score.episodes),
                    absl::StrFormat("%.1f", score.mean_return())});
  }
  return Aligned(rows, 1);
}

}  // namespace

std::string FormatTable(const Evaluation& evaluation, const std::string& held_out) {
  if (!evaluation.has_goals) return ReturnTable(evaluation);
  return PairTable(evaluation, held_out) + GivenUpTable(evaluation) + "\n" +
         TotalTable(evaluation, held_out) +
         "\nsuccess: goal reached and nothing else changed; clean: nothing else changed; reached: "
         "whatever else changed.\nsteps/opt, mutations/W: over the least mutations that reach the "
         "goal, successful episodes. Starts that satisfy the goal are not counted.\n";
}

}  // namespace shoal::cli
