// SPDX-License-Identifier: Apache-2.0
#include "cli/results/evaluation.h"

#include <algorithm>
#include <cstdlib>
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
  episode.policy = Name(object, "policy");
  if (episode.policy == "current" || IsVersion(episode.policy)) episode.policy = "learned";
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

absl::StatusOr<Evaluation> ParseEvaluation(std::string_view lines, std::int64_t counted) {
  Evaluation evaluation;
  std::vector<EpisodeOutcome> episodes;
  for (int number = 1; !lines.empty(); ++number) {
    const std::size_t end = lines.find('\n');
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(end == std::string_view::npos ? lines.size() : end + 1);
    if (line.empty()) continue;
    try {
      const nlohmann::json object = nlohmann::json::parse(line);
      if (object.contains("given_up")) {
        evaluation.has_goals = true;
        evaluation.given_up[{Name(object, "goal"), Name(object, "capture")}] =
            Name(object, "given_up");
      } else if (object.contains("policy")) {
        episodes.push_back(ReadEpisode(object));
      }
    } catch (const nlohmann::json::exception& error) {
      return runtime::InvalidArgument("line " + std::to_string(number) +
                                      " of the evaluation: " + error.what());
    }
  }
  std::stable_sort(episodes.begin(), episodes.end(),
                   [](const auto& a, const auto& b) { return a.episode < b.episode; });
  for (const EpisodeOutcome& episode : episodes) {
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

}  // namespace shoal::cli
