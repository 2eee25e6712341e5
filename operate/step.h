// SPDX-License-Identifier: Apache-2.0
// A step of an announced plan: a request that changes something, the answer that the twin gave, and
// what the request changed there.
//
// Steps are plain values and go into the audit log as JSON. URIs are those of the twin, which are
// also those of the host except for resources that a step makes (executor.h).
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::operate {

// A property before and after a step, each null where it is absent. A pointer of "" is the whole
// resource: it is made where `before` is null, and removed where `after` is null.
struct Effect {
  std::string uri = {};
  std::string pointer = {};
  nlohmann::json before = nullptr;
  nlohmann::json after = nullptr;
  // Whether the host must show the effect before the next step. The rest, such as times and sensor
  // readings, is only evidence that the request was carried out.
  bool matters = false;
  bool operator==(const Effect&) const = default;
};

struct Step {
  std::string method = {};
  std::string uri = {};
  // Null means no body.
  nlohmann::json body = nullptr;
  // The index of the step that made the session as which the request is sent; none means that of
  // the command itself.
  std::optional<std::size_t> session = std::nullopt;
  // The twin's answer: the status, and the canonical Location or "".
  int status = 0;
  std::string location = {};
  // The state in which the twin left the task that the request began; "" when it began none.
  std::string task_state = {};
  std::vector<Effect> effects = {};
  bool operator==(const Step&) const = default;
};

nlohmann::json ToJson(const Step& step);
// Returns DATA_LOSS when `json` is no step.
absl::StatusOr<Step> ParseStep(const nlohmann::json& json);

// Returns "PATCH /redfish/v1/Systems/1 {..}", without line ends.
std::string RequestText(const Step& step);
// Returns "/PowerState of /redfish/v1/Systems/1: "Off" -> "On"".
std::string EffectText(const Effect& effect);

}  // namespace shoal::operate
