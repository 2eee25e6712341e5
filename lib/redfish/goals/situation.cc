// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/situation.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "redfish/capture/uri.h"
#include "redfish/goals/goal_reader.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 3> kMethods = {"POST", "PATCH", "DELETE"};

absl::StatusOr<StartOperation> ParseOne(const Json& item) {
  const bool complete =
      item.is_object() && item.contains("value") && item.value("uri", Json()).is_string();
  if (!complete || item.contains("pointer") == item.contains("method")) {
    return runtime::InvalidArgument(
        "\"start\" has objects of uri, pointer, value, or of uri, method, value");
  }
  for (const auto& [name, value] : item.items()) {
    const bool known =
        name == "value" ||
        ((name == "uri" || name == "pointer" || name == "method") && value.is_string());
    if (!known) return runtime::InvalidArgument("\"start\" has no \"" + name + "\" like that");
  }
  StartOperation operation{TextAt(item, "uri"), TextAt(item, "pointer"), item.at("value"),
                           TextAt(item, "method")};
  const bool is_method =
      std::find(kMethods.begin(), kMethods.end(), operation.method) != kMethods.end();
  if (item.contains("method") && !is_method) {
    return runtime::InvalidArgument("\"start\" has requests of POST, PATCH and DELETE");
  }
  return operation;
}

}  // namespace

Json ToJson(std::span<const StartOperation> start) {
  Json list = Json::array();
  for (const StartOperation& operation : start) {
    Json item = {{"uri", operation.uri}, {"value", operation.value}};
    if (operation.method.empty()) {
      item["pointer"] = operation.pointer;
    } else {
      item["method"] = operation.method;
    }
    list.push_back(std::move(item));
  }
  return list;
}

absl::StatusOr<std::vector<StartOperation>> ParseStart(const Json& list) {
  if (!list.is_array()) return runtime::InvalidArgument("\"start\" is an array");
  std::vector<StartOperation> start;
  for (const Json& item : list) {
    SHOAL_ASSIGN_OR_RETURN(StartOperation operation, ParseOne(item));
    start.push_back(std::move(operation));
  }
  return start;
}

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
  situation.weight = reader.Fraction("weight", situation.weight);
  situation.optimum = reader.Integer("optimum", -1);
  if (situation.optimum < 0) reader.Fail("optimum", "\"optimum\" needs a number, 0 or more");
  situation.where = reader.Value("where");
  situation.exchanged = reader.TextOr("exchanged", "");
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
