// SPDX-License-Identifier: Apache-2.0
#include "cli/metrics/metric_text.h"

#include <chrono>
#include <cstdlib>
#include <optional>
#include <set>
#include <utility>

#include "platform/http/fetch.h"

namespace shoal::cli {
namespace {

constexpr std::chrono::milliseconds kScrapeDeadline(500);

// Takes labels `{a="b",c="d"}` off the front of `text`.
std::optional<std::map<std::string, std::string>> TakeLabels(std::string_view& text) {
  std::map<std::string, std::string> labels;
  if (text.empty() || text.front() != '{') return labels;
  text.remove_prefix(1);
  while (!text.empty() && text.front() != '}') {
    const std::size_t equals = text.find("=\"");
    if (equals == std::string_view::npos) return std::nullopt;
    const std::string name(text.substr(0, equals));
    text.remove_prefix(equals + 2);
    std::string value;
    while (!text.empty() && text.front() != '"') {
      if (text.front() == '\\' && text.size() > 1) {
        text.remove_prefix(1);
        value.push_back(text.front() == 'n' ? '\n' : text.front());
      } else {
        value.push_back(text.front());
      }
      text.remove_prefix(1);
    }
    if (text.empty()) return std::nullopt;
    text.remove_prefix(1);
    if (!text.empty() && text.front() == ',') text.remove_prefix(1);
    labels[name] = std::move(value);
  }
  if (text.empty()) return std::nullopt;
  text.remove_prefix(1);
  return labels;
}

std::optional<MetricSample> ParseLine(std::string_view line,
                                      const std::set<std::string>& counters) {
  const std::size_t end = line.find_first_of("{ ");
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  MetricSample sample;
  sample.name = line.substr(0, end);
  line.remove_prefix(end);
  auto labels = TakeLabels(line);
  if (!labels) return std::nullopt;
  sample.labels = std::move(*labels);
  const std::string number(line);
  char* rest = nullptr;
  sample.value = std::strtod(number.c_str(), &rest);
  if (rest == number.c_str()) return std::nullopt;
  sample.counter = counters.contains(sample.name);
  return sample;
}

// Reads a line "# TYPE name kind".
void NoteType(std::string_view line, std::set<std::string>& counters) {
  constexpr std::string_view kType = "# TYPE ";
  if (!line.starts_with(kType)) return;
  line.remove_prefix(kType.size());
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return;
  const std::string name(line.substr(0, space));
  const std::string_view kind = line.substr(space + 1);
  if (kind == "counter") counters.insert(name);
  if (kind != "histogram" && kind != "summary") return;
  counters.insert({name + "_sum", name + "_count", name + "_bucket"});
}

}  // namespace

absl::StatusOr<std::vector<MetricSample>> ParseMetricText(std::string_view text) {
  std::vector<MetricSample> samples;
  std::set<std::string> counters;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (line.front() == '#') {
      NoteType(line, counters);
      continue;
    }
    auto sample = ParseLine(line, counters);
    if (!sample) return runtime::InvalidArgument("not a metric: " + std::string(line));
    samples.push_back(std::move(*sample));
  }
  return samples;
}

absl::StatusOr<std::vector<MetricSample>> ScrapeMetrics(const std::string& address) {
  SHOAL_ASSIGN_OR_RETURN(const http::ClientResponse response,
                         http::Fetch(address, {.target = "/metrics"}, kScrapeDeadline));
  if (response.status != 200) {
    return runtime::Unavailable(address + "/metrics answers " + std::to_string(response.status));
  }
  return ParseMetricText(response.body);
}

}  // namespace shoal::cli
