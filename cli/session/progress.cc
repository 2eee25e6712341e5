// SPDX-License-Identifier: Apache-2.0
#include "cli/session/progress.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

namespace shoal::cli {
namespace {

constexpr double kRateWindowSeconds = 5;
constexpr double kEpisodeWindowSeconds = 20;
constexpr std::string_view kPrefix = "shoal_";

constexpr char kSteps[] = "shoal_environment_steps_total";
constexpr char kUpdates[] = "shoal_updates_total";
constexpr char kEpisodes[] = "shoal_episodes_total";
constexpr char kSuccesses[] = "shoal_episode_clean_total";
constexpr char kReturnSum[] = "shoal_episode_return_sum";
constexpr char kStaleness[] = "shoal_staleness_publications";

using Counters = std::map<std::string, double>;

double ValueOf(const Counters& counters, const std::string& name) {
  const auto found = counters.find(name);
  return found == counters.end() ? 0 : found->second;
}

std::optional<double> Ratio(const Counters& now, const Counters& before, const std::string& part,
                            const std::string& whole) {
  const double count = ValueOf(now, whole) - ValueOf(before, whole);
  if (count <= 0) return std::nullopt;
  return (ValueOf(now, part) - ValueOf(before, part)) / count;
}

std::string ShortName(const std::string& name) { return name.substr(kPrefix.size()); }

std::string Rounded(double value) {
  if (value < 1e4) return absl::StrFormat("%.0f", value);
  if (value < 1e6) return absl::StrFormat("%.1fk", value / 1e3);
  return absl::StrFormat("%.2fM", value / 1e6);
}

std::string MinutesAndSeconds(double seconds) {
  const long whole = static_cast<long>(std::max(0.0, seconds) + 0.5);
  return absl::StrFormat("%d:%02d", whole / 60, whole % 60);
}

std::string Bar(double part, int width) {
  const int full = static_cast<int>(part * width + 0.5);
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(width - full), '.') + "] ";
}

}  // namespace

Progress ProgressTracker::Observe(double seconds, const MetricTotals& totals) {
  points_.push_back({seconds, totals.Counters()});
  while (points_.size() > 2 && points_[1].seconds <= seconds - kEpisodeWindowSeconds) {
    points_.pop_front();
  }
  const Point& now = points_.back();
  const Point& oldest = points_.front();
  const Point& recent = *std::find_if(points_.begin(), points_.end(), [&](const Point& point) {
    return point.seconds >= seconds - kRateWindowSeconds;
  });

  Progress progress;
  progress.seconds = seconds;
  progress.environment_steps = totals.Counter(kSteps);
  progress.updates = totals.Counter(kUpdates);
  if (now.seconds > recent.seconds) {
    progress.environment_steps_per_second =
        (ValueOf(now.counters, kSteps) - ValueOf(recent.counters, kSteps)) /
        (now.seconds - recent.seconds);
  }
  if (has_goals_) progress.success = Ratio(now.counters, oldest.counters, kSuccesses, kEpisodes);
  progress.mean_return = Ratio(now.counters, oldest.counters, kReturnSum, kEpisodes);
  for (const auto& [name, value] : totals.Gauges()) {
    if (name.starts_with(kPrefix)) progress.details[ShortName(name)] = value;
  }
  for (const auto& [name, value] : now.counters) {
    constexpr std::string_view kSum = "_sum";
    if (!name.starts_with(kPrefix) || !name.ends_with(kSum)) continue;
    const std::string base = name.substr(0, name.size() - kSum.size());
    const auto mean = Ratio(now.counters, recent.counters, name, base + "_count");
    if (mean) progress.details[ShortName(base)] = *mean;
  }
  const auto staleness = progress.details.find(ShortName(kStaleness));
  if (staleness != progress.details.end()) progress.staleness = staleness->second;
  return progress;
}

std::optional<double> PartDone(const Progress& progress, const Extent& extent) {
  std::optional<double> part;
  const auto consider = [&part](double done, const std::optional<double>& whole) {
    if (whole && *whole > 0) part = std::max(part.value_or(0), std::min(1.0, done / *whole));
  };
  consider(progress.seconds, extent.seconds);
  consider(progress.environment_steps, extent.environment_steps);
  return part;
}

std::string StatusLine(const Progress& progress, const Extent& extent, int bar_width) {
  const std::optional<double> part = PartDone(progress, extent);
  std::string line;
  if (part && bar_width > 0) line += Bar(*part, bar_width);
  line += MinutesAndSeconds(progress.seconds);
  if (part && *part > 0) {
    line += " left " + MinutesAndSeconds(progress.seconds * (1 - *part) / *part);
  }
  line += "  " + Rounded(progress.environment_steps_per_second) + " steps/s";
  if (progress.success) line += absl::StrFormat("  success %.2f", *progress.success);
  if (progress.mean_return) line += absl::StrFormat("  return %.2f", *progress.mean_return);
  line += "  updates " + Rounded(progress.updates);
  if (progress.staleness) line += absl::StrFormat("  staleness %.1f", *progress.staleness);
  return line + "  steps " + Rounded(progress.environment_steps);
}

std::string ToJson(const Progress& progress) {
  nlohmann::json row = {{"seconds", progress.seconds},
                        {"environment_steps", progress.environment_steps},
                        {"environment_steps_per_second", progress.environment_steps_per_second},
                        {"updates", progress.updates}};
  if (progress.success) row["success"] = *progress.success;
  if (progress.mean_return) row["return"] = *progress.mean_return;
  if (progress.staleness) row["staleness"] = *progress.staleness;
  row["details"] = progress.details;
  return row.dump();
}

}  // namespace shoal::cli
