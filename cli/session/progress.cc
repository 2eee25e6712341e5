// SPDX-License-Identifier: Apache-2.0
#include "cli/session/progress.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace shoal::cli {

namespace {

constexpr double kRateWindowSeconds = 5;
constexpr double kEpisodeWindowSeconds = 20;

constexpr char kSteps[] = "shoal_environment_steps_total";
constexpr char kUpdates[] = "shoal_updates_total";
constexpr char kSuccess[] = "success";

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

Progress ProgressTracker::Observe(double seconds, const MetricTotals& totals,
                                  const MetricTable& table) {
  Point point = {.seconds = seconds, .counters = totals.Counters(), .parts = {}};
  for (const auto& [name, row] : table.rows()) {
    if (row.draw != "shares" && row.draw != "labels") continue;
    point.parts[name] =
        row.kind == "histogram" ? totals.Buckets(name) : totals.CounterByLabels(name);
  }
  points_.push_back(std::move(point));
  while (points_.size() > 2 && points_[1].seconds <= seconds - kEpisodeWindowSeconds) {
    points_.pop_front();
  }

  Progress progress;
  progress.seconds = seconds;
  progress.environment_steps = totals.Counter(kSteps);
  progress.updates = totals.Counter(kUpdates);
  const Point& recent = Since(kRateWindowSeconds);
  if (seconds > recent.seconds) {
    progress.environment_steps_per_second =
        (ValueOf(points_.back().counters, kSteps) - ValueOf(recent.counters, kSteps)) /
        (seconds - recent.seconds);
  }
  for (const auto& [name, row] : table.rows()) {
    if (row.draw == "never" || (!has_goals_ && row.status == kSuccess)) continue;
    AddValue(row, totals, progress);
    const auto value = progress.details.find(row.key());
    if (value == progress.details.end() || row.status.empty()) continue;
    progress.status.emplace_back(row.status, value->second);
  }
  return progress;
}

const ProgressTracker::Point& ProgressTracker::Since(double seconds) const {
  return *std::find_if(points_.begin(), points_.end(), [&](const Point& point) {
    return point.seconds >= points_.back().seconds - seconds;
  });
}

void ProgressTracker::AddValue(const MetricRow& row, const MetricTotals& totals,
                               Progress& progress) const {
  const Point& now = points_.back();
  const Point& recent = Since(kRateWindowSeconds);
  const double seconds = now.seconds - recent.seconds;
  std::optional<double> value;
  if (row.draw == "shares" || (row.draw == "labels" && row.kind == "counter")) {
    const auto before = recent.parts.find(row.name);
    std::map<std::string, double> gained = now.parts.at(row.name);
    double whole = 0;
    for (auto& [labels, sum] : gained) {
      if (before != recent.parts.end()) sum -= ValueOf(before->second, labels);
      whole += sum;
    }
    if (row.draw == "labels") whole = seconds;
    for (const auto& [labels, sum] : gained) {
      if (whole > 0) progress.details[row.key() + "/" + labels] = sum / whole;
    }
  } else if (row.draw == "labels") {
    for (const auto& [labels, mean] : totals.GaugeByLabels(row.name)) {
      progress.details[row.key() + "/" + labels] = mean;
    }
  } else if (!row.over.empty()) {
    // A sum that may fall is a gauge, but counts as a counter all the same (metric_totals.h).
    value = Ratio(now.counters, points_.front().counters, row.name, row.over);
  } else if (row.draw == "rate") {
    if (seconds > 0) {
      value = (ValueOf(now.counters, row.name) - ValueOf(recent.counters, row.name)) / seconds;
    }
  } else if (row.kind == "histogram") {
    value = Ratio(now.counters, recent.counters, row.name + "_sum", row.name + "_count");
  } else if (row.kind == "counter") {
    value = totals.Counter(row.name);
  } else {
    value = totals.Gauge(row.name);
  }
  if (value) progress.details[row.key()] = *value;
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
  for (const auto& [word, value] : progress.status) {
    line += "  " + word + absl::StrFormat(" %.2f", value);
  }
  line += "  updates " + Rounded(progress.updates);
  return line + "  steps " + Rounded(progress.environment_steps);
}

std::string ToJson(const Progress& progress) {
  nlohmann::json row = {{"seconds", progress.seconds},
                        {"environment_steps", progress.environment_steps},
                        {"environment_steps_per_second", progress.environment_steps_per_second},
                        {"updates", progress.updates}};
  for (const auto& [word, value] : progress.status) row[word] = value;
  row["details"] = progress.details;
  return row.dump();
}

absl::StatusOr<Progress> ParseProgress(const std::string& line) {
  const nlohmann::json row = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  Progress progress;
  const auto read = [&row](const char* name, double& value) {
    const auto found = row.find(name);
    if (found == row.end() || !found->is_number()) return false;
    value = found->get<double>();
    constexpr double kMost = 1e15;
    return value >= 0 && value <= kMost;
  };
  if (!row.is_object() || !read("seconds", progress.seconds) ||
      !read("updates", progress.updates) ||
      !read("environment_steps", progress.environment_steps)) {
    return runtime::DataLoss("no progress of a run: " + line.substr(0, 100));
  }
  return progress;
}

namespace {

constexpr int kBarWidth = 24;
constexpr int kNarrowBarWidth = 8;
constexpr std::size_t kWide = 120;

}  // namespace

StatusDisplay::StatusDisplay(runtime::Duration plain_interval, runtime::Clock& clock)
    : line_(plain_interval, clock) {}

void StatusDisplay::Show(const Progress& progress, const Extent& extent) {
  line_.Show([&](std::optional<std::size_t> width) {
    const int bar = !width ? 0 : *width >= kWide ? kBarWidth : kNarrowBarWidth;
    return StatusLine(progress, extent, bar);
  });
}

void StatusDisplay::Show(const std::string& line) {
  line_.Show([&](std::optional<std::size_t>) { return line; });
}

void StatusDisplay::Note(const std::string& text) { line_.Note(text); }

}  // namespace shoal::cli
