// SPDX-License-Identifier: Apache-2.0
#include "cli/metrics/metric_totals.h"

#include <absl/strings/numbers.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <tuple>

namespace shoal::cli {
namespace {

constexpr std::string_view kSum = "_sum";
constexpr std::string_view kBucket = "_bucket";

std::string SeriesOf(const std::string& process, const MetricSample& sample) {
  std::string series = process;
  for (const auto& [name, value] : sample.labels) series += "\n" + name + "=" + value;
  return series;
}

// Returns the values of a series' labels with slashes between them.
std::string LabelsOf(const std::string& series) {
  std::string labels;
  for (std::size_t at = series.find('\n'); at != std::string::npos;) {
    const std::size_t equals = series.find('=', at);
    const std::size_t end = series.find('\n', at + 1);
    labels += (labels.empty() ? "" : "/") + series.substr(equals + 1, end - equals - 1);
    at = end;
  }
  return labels;
}

double MeanOf(const std::map<std::string, double>& values) {
  const double sum =
      std::accumulate(values.begin(), values.end(), 0.0,
                      [](double total, const auto& it) { return total + it.second; });
  return sum / static_cast<double>(values.size());
}

}  // namespace

void MetricTotals::Update(const std::string& process, const std::vector<MetricSample>& samples) {
  std::vector<Total*> totals(samples.size(), nullptr);
  bool restarted = false;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const MetricSample& sample = samples[i];
    if (!std::isfinite(sample.value) || sample.name == kMetricInfo) continue;
    const bool sum = sample.name.ends_with(kSum);
    if (!sample.counter && !sum) {
      gauges_[sample.name][SeriesOf(process, sample)] = sample.value;
      continue;
    }
    totals[i] = &counters_[sample.name][SeriesOf(process, sample)];
    restarted = restarted || (!sum && sample.value < totals[i]->last);
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (totals[i] == nullptr) continue;
    totals[i]->sum += samples[i].value - (restarted ? 0 : totals[i]->last);
    totals[i]->last = samples[i].value;
  }
}

double MetricTotals::Counter(const std::string& name) const {
  const auto found = counters_.find(name);
  if (found == counters_.end()) return 0;
  double sum = 0;
  for (const auto& [series, total] : found->second) sum += total.sum;
  return sum;
}

std::optional<double> MetricTotals::Gauge(const std::string& name) const {
  const auto found = gauges_.find(name);
  if (found == gauges_.end()) return std::nullopt;
  return MeanOf(found->second);
}

std::map<std::string, double> MetricTotals::GaugeByLabels(const std::string& name) const {
  std::map<std::string, std::map<std::string, double>> by_labels;
  const auto found = gauges_.find(name);
  if (found == gauges_.end()) return {};
  for (const auto& [series, value] : found->second) by_labels[LabelsOf(series)][series] = value;
  std::map<std::string, double> means;
  for (const auto& [labels, values] : by_labels) means[labels] = MeanOf(values);
  return means;
}

std::optional<double> MetricTotals::LeastGauge(const std::string& name) const {
  const auto found = gauges_.find(name);
  if (found == gauges_.end()) return std::nullopt;
  double least = found->second.begin()->second;
  for (const auto& [series, value] : found->second) least = std::min(least, value);
  return least;
}

std::map<std::string, double> MetricTotals::Gauges() const {
  std::map<std::string, double> means;
  for (const auto& [name, values] : gauges_) means[name] = MeanOf(values);
  return means;
}

std::map<std::string, double> MetricTotals::CounterByLabels(const std::string& name) const {
  std::map<std::string, double> sums;
  const auto found = counters_.find(name);
  if (found == counters_.end()) return sums;
  for (const auto& [series, total] : found->second) sums[LabelsOf(series)] += total.sum;
  return sums;
}

std::map<std::string, double> MetricTotals::Counters() const {
  std::map<std::string, double> sums;
  for (const auto& [name, series] : counters_) {
    if (!name.ends_with(kBucket)) sums[name] = Counter(name);
  }
  return sums;
}

std::map<std::string, double> MetricTotals::Buckets(const std::string& name) const {
  std::vector<std::tuple<double, std::string, double>> ascending;
  for (const auto& [bound, count] : CounterByLabels(name + std::string(kBucket))) {
    double number = 0;
    if (absl::SimpleAtod(bound, &number)) ascending.emplace_back(number, bound, count);
  }
  std::sort(ascending.begin(), ascending.end());
  std::map<std::string, double> counts;
  double below = 0;
  for (const auto& [number, bound, count] : ascending) {
    counts[bound] = count - below;
    below = count;
  }
  return counts;
}

}  // namespace shoal::cli
