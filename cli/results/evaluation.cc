// SPDX-License-Identifier: Apache-2.0
#include "cli/results/evaluation.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

namespace shoal::cli {

namespace {

double Rate(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::vector<std::string> Distinct(const std::map<PairKey, Score>& pairs,
                                  std::string PairKey::*field) {
  std::set<std::string> values;
  for (const auto& [key, score] : pairs) values.insert(key.*field);
  return {values.begin(), values.end()};
}

template <typename T>
T Field(const nlohmann::json& object, const char* name, T fallback) {
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? fallback : found->get<T>();
}

// Returns a member that is a number or a text as text.
std::string Name(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

// Whether `policy` is a version such as "1.27", which names parameters by epoch and step.
bool IsVersion(const std::string& policy) {
  return !policy.empty() && policy.front() >= '0' && policy.front() <= '9';
}

EpisodeOutcome ReadEpisode(const nlohmann::json& object) {
  EpisodeOutcome episode;
  episode.asked = Name(object, "policy");
  // Actors of Gymnasium's environments call it so.
  if (episode.asked == "current") episode.asked = "learned";
  episode.policy = IsVersion(episode.asked) ? "learned" : episode.asked;
  episode.goal = Name(object, "goal");
  episode.capture = Name(object, "capture");
  episode.episode = Field<std::int64_t>(object, "episode", 0);
  episode.episode_return = Field(object, "return", 0.0);
  episode.steps = Field<std::int64_t>(object, "steps", 0);
  episode.mutations = Field<std::int64_t>(object, "mutations", 0);
  episode.client_errors = Field<std::int64_t>(object, "status_4xx", 0);
  episode.optimum = Field<std::int64_t>(object, "optimum", 0);
  episode.collateral = Field<std::int64_t>(object, "collateral", 0);
  episode.satisfied_at_start = Field(object, "satisfied_at_start", false);
  episode.reached = Field(object, "success", false);
  episode.exchanged = Field(object, "exchanged", false);
  episode.open = Field(object, "open", std::vector<std::string>());
  episode.requests = Field(object, "requests", std::vector<std::string>());
  return episode;
}

nlohmann::json ScoreJson(const Score& score) {
  nlohmann::json object = {
      {"episodes", score.episodes},      {"satisfied_at_start", score.satisfied_at_start},
      {"success", score.success_rate()}, {"reached", score.reached_rate()},
      {"clean", score.clean_rate()},     {"client_errors_per_step", score.client_error_rate()},
      {"return", score.mean_return()}};
  if (const auto ratio = score.steps_per_optimal()) object["steps_per_optimal"] = *ratio;
  if (const auto ratio = score.mutations_per_optimal()) object["mutations_per_optimal"] = *ratio;
  if (!score.open.empty()) object["open"] = score.open;
  return object;
}

}  // namespace

bool GoalBefore(const std::string& a, const std::string& b) {
  const long left = std::strtol(a.c_str(), nullptr, 10);
  const long right = std::strtol(b.c_str(), nullptr, 10);
  return left != right ? left < right : a < b;
}

void Score::Add(const EpisodeOutcome& episode) {
  if (episode.satisfied_at_start) {
    ++satisfied_at_start;
    return;
  }
  const bool clean_episode = episode.collateral == 0;
  ++episodes;
  reached += episode.reached ? 1 : 0;
  clean += clean_episode ? 1 : 0;
  steps += episode.steps;
  client_errors += episode.client_errors;
  return_sum += episode.episode_return;
  for (const std::string& requirement : episode.open) ++open[requirement];
  if (!episode.reached || !clean_episode) return;
  ++successes;
  success_steps += episode.steps;
  success_mutations += episode.mutations;
  success_optimum += episode.optimum;
}

void Score::Add(const Score& other) {
  episodes += other.episodes;
  satisfied_at_start += other.satisfied_at_start;
  reached += other.reached;
  successes += other.successes;
  clean += other.clean;
  steps += other.steps;
  client_errors += other.client_errors;
  success_steps += other.success_steps;
  success_mutations += other.success_mutations;
  success_optimum += other.success_optimum;
  return_sum += other.return_sum;
  for (const auto& [requirement, times] : other.open) open[requirement] += times;
}

double Score::success_rate() const {
  return Rate(static_cast<double>(successes), static_cast<double>(episodes));
}
double Score::reached_rate() const {
  return Rate(static_cast<double>(reached), static_cast<double>(episodes));
}
double Score::clean_rate() const {
  return Rate(static_cast<double>(clean), static_cast<double>(episodes));
}
double Score::mean_return() const { return Rate(return_sum, static_cast<double>(episodes)); }
double Score::client_error_rate() const {
  return Rate(static_cast<double>(client_errors), static_cast<double>(steps));
}
std::optional<double> Score::steps_per_optimal() const {
  if (success_optimum == 0) return std::nullopt;
  return static_cast<double>(success_steps) / static_cast<double>(success_optimum);
}
std::optional<double> Score::mutations_per_optimal() const {
  if (success_optimum == 0) return std::nullopt;
  return static_cast<double>(success_mutations) / static_cast<double>(success_optimum);
}

void Evaluation::Add(const EpisodeOutcome& episode) {
  has_goals = has_goals || !episode.goal.empty();
  pairs[{episode.policy, episode.goal, episode.capture}].Add(episode);
}

Score Evaluation::Total(const std::string& policy, const std::string& goal,
                        const std::string& capture, const std::string& without) const {
  Score total;
  for (const auto& [key, score] : pairs) {
    if (key.policy != policy || (!goal.empty() && key.goal != goal)) continue;
    if (!capture.empty() && key.capture != capture) continue;
    if (!without.empty() && key.capture == without) continue;
    total.Add(score);
  }
  return total;
}

std::vector<std::string> Evaluation::goals() const {
  std::vector<std::string> names = Distinct(pairs, &PairKey::goal);
  std::sort(names.begin(), names.end(), GoalBefore);
  return names;
}

std::vector<std::string> Evaluation::captures() const { return Distinct(pairs, &PairKey::capture); }

std::vector<std::string> Evaluation::policies() const {
  std::vector<std::string> names = Distinct(pairs, &PairKey::policy);
  std::stable_partition(names.begin(), names.end(),
                        [](const std::string& name) { return name == "learned"; });
  return names;
}

namespace {

// Calls `take` with the object of each line.
absl::Status ForEachLine(std::string_view lines,
                         const std::function<void(const nlohmann::json&)>& take) {
  for (int number = 1; !lines.empty(); ++number) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    if (line.empty()) continue;
    try {
      take(nlohmann::json::parse(line));
    } catch (const nlohmann::json::exception& error) {
      return runtime::InvalidArgument("line " + std::to_string(number) +
                                      " of the evaluation: " + error.what());
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<EpisodeOutcome>> ParseEpisodes(std::string_view lines) {
  std::vector<EpisodeOutcome> episodes;
  SHOAL_RETURN_IF_ERROR(ForEachLine(lines, [&](const nlohmann::json& object) {
    if (object.contains("policy")) episodes.push_back(ReadEpisode(object));
  }));
  return episodes;
}

absl::StatusOr<Evaluation> ParseEvaluation(std::string_view lines, std::int64_t counted,
                                           const std::string& asked) {
  Evaluation evaluation;
  SHOAL_RETURN_IF_ERROR(ForEachLine(lines, [&](const nlohmann::json& object) {
    if (!object.contains("given_up")) return;
    evaluation.has_goals = true;
    evaluation.given_up[{Name(object, "goal"), Name(object, "capture")}] = Name(object, "given_up");
  }));
  SHOAL_ASSIGN_OR_RETURN(std::vector<EpisodeOutcome> episodes, ParseEpisodes(lines));
  std::stable_sort(episodes.begin(), episodes.end(),
                   [](const auto& a, const auto& b) { return a.episode < b.episode; });
  for (const EpisodeOutcome& episode : episodes) {
    if (!asked.empty() && episode.asked != asked) continue;
    if (evaluation.given_up.contains({episode.goal, episode.capture})) continue;
    if (evaluation.pairs[{episode.policy, episode.goal, episode.capture}].episodes < counted) {
      evaluation.Add(episode);
    }
  }
  return evaluation;
}

std::string ToJson(const Evaluation& evaluation, const std::string& held_out) {
  nlohmann::json totals = nlohmann::json::object();
  for (const std::string& policy : evaluation.policies()) {
    totals[policy] = ScoreJson(evaluation.Total(policy, "", "", held_out));
    if (held_out.empty()) continue;
    totals[policy + ", zero-shot"] = ScoreJson(evaluation.Total(policy, "", held_out));
  }
  nlohmann::json pairs = nlohmann::json::array();
  for (const auto& [key, score] : evaluation.pairs) {
    nlohmann::json row = ScoreJson(score);
    row["policy"] = key.policy;
    row["goal"] = key.goal;
    row["capture"] = key.capture;
    pairs.push_back(std::move(row));
  }
  nlohmann::json given_up = nlohmann::json::array();
  for (const auto& [pair, reason] : evaluation.given_up) {
    given_up.push_back({{"goal", pair.goal}, {"capture", pair.capture}, {"reason", reason}});
  }
  return nlohmann::json{
      {"totals", totals}, {"pairs", pairs}, {"given_up", given_up}, {"held_out", held_out}}
      .dump(1);
}

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

// What was missing most often at the end of an episode; empty when nothing was.
std::string OpenTable(const Evaluation& evaluation) {
  constexpr std::size_t kMostRows = 12;
  struct Open {
    std::int64_t times = 0;
    Row row;
  };
  std::vector<Open> all;
  for (const auto& [key, score] : evaluation.pairs) {
    if (key.policy != "learned") continue;
    for (const auto& [requirement, times] : score.open) {
      all.push_back({times, {key.goal, key.capture, std::to_string(times), requirement}});
    }
  }
  if (all.empty()) return "";
  std::stable_sort(all.begin(), all.end(),
                   [](const Open& a, const Open& b) { return a.times > b.times; });
  std::vector<Row> rows = {{"goal", "capture", "episodes", "what they left open, most often"}};
  for (std::size_t i = 0; i < std::min(all.size(), kMostRows); ++i) rows.push_back(all[i].row);
  return "\n" + Aligned(rows, 4);
}

// With a row for each policy, and where episodes compare with several things one for each of these.
std::string ReturnTable(const Evaluation& evaluation) {
  std::vector<Row> rows = {{"policy", "episodes", "return"}};
  const auto add = [&rows](const std::string& name, const Score& score) {
    rows.push_back(
        {name, std::to_string(score.episodes), absl::StrFormat("%.1f", score.mean_return())});
  };
  const std::vector<std::string> captures = evaluation.captures();
  for (const std::string& policy : evaluation.policies()) {
    const std::string name = policy == "initial" ? "untrained" : policy;
    add(name, evaluation.Total(policy));
    if (captures.size() < 2) continue;
    for (const std::string& capture : captures) {
      add(name + ", " + capture, evaluation.Total(policy, "", capture));
    }
  }
  return Aligned(rows, 1);
}

}  // namespace

std::string FormatTable(const Evaluation& evaluation, const std::string& held_out) {
  if (!evaluation.has_goals) return ReturnTable(evaluation);
  return PairTable(evaluation, held_out) + GivenUpTable(evaluation) + OpenTable(evaluation) + "\n" +
         TotalTable(evaluation, held_out) +
         "\nsuccess: goal reached and nothing else changed; clean: nothing else changed; reached: "
         "whatever else changed.\nsteps/opt, mutations/W: over the least mutations that reach the "
         "goal, successful episodes. Starts that satisfy the goal are not counted.\n";
}

}  // namespace shoal::cli
