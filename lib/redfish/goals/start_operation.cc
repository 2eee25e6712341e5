// SPDX-License-Identifier: Apache-2.0
#include "redfish/goals/start_operation.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "redfish/capture/uri.h"

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

}  // namespace shoal::redfish
