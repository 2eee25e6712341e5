// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/situation.h"

#include <optional>
#include <string_view>
#include <utility>

#include "redfish/goals/fill_names.h"
#include "redfish/goals/goal_reader.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

std::string FillOne(const std::string& text, const Values& values) {
  return FillNames(text, [&values](std::string_view name) -> std::optional<std::string> {
    const auto value = values.find(name);
    if (value == values.end()) return std::nullopt;
    return value->second.is_string() ? value->second.get<std::string>() : value->second.dump();
  });
}

}  // namespace

Json FillValues(const Json& json, const Values& values) {
  if (json.is_string()) {
    const std::string& text = json.get_ref<const std::string&>();
    if (text.starts_with('{') && text.ends_with('}')) {
      const auto whole = values.find(std::string_view(text).substr(1, text.size() - 2));
      if (whole != values.end()) return whole->second;
    }
    return FillOne(text, values);
  }
  if (json.is_array()) {
    Json filled = Json::array();
    for (const Json& item : json) filled.push_back(FillValues(item, values));
    return filled;
  }
  if (!json.is_object()) return json;
  Json filled = Json::object();
  for (const auto& [key, value] : json.items()) {
    filled[FillOne(key, values)] = FillValues(value, values);
  }
  return filled;
}

Json DrawOrder(const Json& order, runtime::Random& random) {
  Json drawn = order;
  const std::size_t chosen = 1 + random.Below(order.size() - 1);
  drawn.erase(chosen);
  drawn.insert(drawn.begin(), order[chosen]);
  return drawn;
}

Situation ReadSituation(GoalReader& reader) {
  Situation situation;
  situation.name = reader.Text("name");
  situation.weight = reader.Share("weight", situation.weight);
  situation.optimum = reader.Integer("optimum", -1);
  if (situation.optimum < 0) reader.Fail("optimum", "\"optimum\" needs a number, 0 or more");
  situation.where = reader.Value("where");
  const Json of = reader.Table("of");
  for (const auto& [part, name] : of.items()) {
    if (!name.is_string()) reader.Fail("of", "\"of\" needs names of situations");
    situation.of.emplace(part, name.is_string() ? name.get<std::string>() : std::string());
  }
  for (GoalReader& operation : reader.Tables("start")) {
    Json json = operation.Whole();
    Json plain = json;
    for (const char* key : {"if", "unless"}) {
      if (plain.contains(key) && !plain.at(key).is_string()) {
        operation.Fail(key, std::string("\"") + key + "\" needs the name of a place");
      }
      plain.erase(key);
    }
    const absl::Status status = ParseStart(Json::array({plain})).status();
    if (!status.ok()) operation.Fail("", runtime::Message(status));
    reader.Merge(operation.Finish());
    situation.start.push_back(std::move(json));
  }
  return situation;
}

}  // namespace shoal::redfish
