// SPDX-License-Identifier: Apache-2.0
#include "cli/metrics/metric_table.h"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace shoal::cli {
namespace {

using RowField = std::pair<const char*, std::string MetricRow::*>;
constexpr std::array<RowField, 9> kFields = {{{"metric", &MetricRow::name},
                                              {"kind", &MetricRow::kind},
                                              {"help", &MetricRow::help},
                                              {"group", &MetricRow::group},
                                              {"unit", &MetricRow::unit},
                                              {"title", &MetricRow::title},
                                              {"draw", &MetricRow::draw},
                                              {"over", &MetricRow::over},
                                              {"status", &MetricRow::status}}};

}  // namespace

std::string MetricRow::key() const {
  constexpr std::string_view kPrefix = "shoal_";
  constexpr std::string_view kTotal = "_total";
  std::string_view key = name;
  if (key.starts_with(kPrefix)) key.remove_prefix(kPrefix.size());
  if (key.ends_with(kTotal)) key.remove_suffix(kTotal.size());
  // A total has the plain name where both stand side by side.
  return std::string(key) + (draw == "rate" ? "_per_second" : "");
}

void MetricTable::Update(const std::vector<MetricSample>& samples) {
  for (const MetricSample& sample : samples) {
    if (sample.name != kMetricInfo) continue;
    MetricRow row;
    for (const auto& [label, field] : kFields) {
      const auto found = sample.labels.find(label);
      if (found != sample.labels.end()) row.*field = found->second;
    }
    rows_.try_emplace(row.name, row);
  }
}

std::string MetricTable::ToJson() const {
  nlohmann::ordered_json table = nlohmann::ordered_json::array();
  for (const auto& [name, row] : rows_) {
    nlohmann::ordered_json object;
    for (const auto& [label, field] : kFields) object[label] = row.*field;
    table.push_back(std::move(object));
  }
  return table.dump(1) + "\n";
}

absl::StatusOr<MetricTable> MetricTable::Parse(const std::string& text) {
  const nlohmann::json table = nlohmann::json::parse(text, nullptr, false);
  if (!table.is_array()) return runtime::InvalidArgument("no table of metrics");
  MetricTable parsed;
  for (const nlohmann::json& object : table) {
    if (!object.is_object()) return runtime::InvalidArgument("no table of metrics");
    MetricRow row;
    for (const auto& [label, field] : kFields) {
      if (object.contains(label) && object[label].is_string()) {
        row.*field = object[label].get<std::string>();
      }
    }
    parsed.rows_.emplace(row.name, std::move(row));
  }
  return parsed;
}

}  // namespace shoal::cli
