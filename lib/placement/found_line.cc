// SPDX-License-Identifier: Apache-2.0
#include "placement/found_line.h"

#include <nlohmann/json.hpp>

#include "platform/content/parse_json.h"

namespace shoal::placement {
namespace {

using nlohmann::json;

bool IsCount(const json& value) { return value.is_number_unsigned(); }

bool IsImprovement(const json& value) {
  return value.is_array() && value.size() == 4 && IsCount(value[0]) && value[1].is_number() &&
         value[2].is_number() && value[3].is_number();
}

}  // namespace

std::string ToLine(const Found& found) {
  json improvements = json::array();
  for (const Improvement& one : found.improvements) {
    improvements.push_back({one.evaluations, one.seconds, one.step.seconds, one.step.excess});
  }
  return json{{"placement", found.placement},
              {"evaluations", found.evaluations},
              {"seconds", found.seconds},
              {"improvements", std::move(improvements)}}
      .dump();
}

absl::StatusOr<Found> ParseFound(std::string_view line, Simulator& simulator) {
  const json value = content::ParseJson(line);
  const absl::Status wrong =
      runtime::InvalidArgument("a line is not what a search found: " + std::string(line));
  for (const char* list : {"placement", "improvements"}) {
    if (!value.is_object() || !value.contains(list) || !value[list].is_array()) return wrong;
  }
  if (!value.contains("evaluations") || !IsCount(value["evaluations"]) ||
      !value.contains("seconds") || !value["seconds"].is_number()) {
    return wrong;
  }
  Found found;
  for (const json& device : value["placement"]) {
    if (!IsCount(device)) return wrong;
    found.placement.push_back(device.get<std::size_t>());
  }
  for (const json& one : value["improvements"]) {
    if (!IsImprovement(one)) return wrong;
    found.improvements.push_back(
        {.evaluations = one[0].get<std::uint64_t>(),
         .step = {.seconds = one[2].get<double>(), .excess = one[3].get<double>()},
         .seconds = one[1].get<double>()});
  }
  found.evaluations = value["evaluations"].get<std::uint64_t>();
  found.seconds = value["seconds"].get<double>();
  SHOAL_ASSIGN_OR_RETURN(found.step, simulator.Run(found.placement));
  return found;
}

}  // namespace shoal::placement
