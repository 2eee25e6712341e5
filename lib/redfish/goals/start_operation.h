// SPDX-License-Identifier: Apache-2.0
// One step from a captured service to the state that an episode starts in.
//
// As JSON, which the control API takes:
//   {"uri": U, "pointer": P, "value": V}        a property is set, past every rule of the service
//   {"uri": U, "method": "POST", "value": V}    a request with the body V, which must succeed and
//   is
//                                               followed to the end of what it started
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::redfish {

struct StartOperation {
  std::string uri;
  // Empty for a request.
  std::string pointer;
  nlohmann::json value;
  // "POST", "PATCH" or "DELETE"; empty: the property is set.
  std::string method = "";
};

nlohmann::json ToJson(std::span<const StartOperation> start);
// INVALID_ARGUMENT naming what is wrong.
absl::StatusOr<std::vector<StartOperation>> ParseStart(const nlohmann::json& list);

}  // namespace shoal::redfish
