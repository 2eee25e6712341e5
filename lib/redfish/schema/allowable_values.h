// SPDX-License-Identifier: Apache-2.0
// Finds the values that a service itself lists for a property, or for a parameter of an action.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace shoal::redfish {

inline constexpr std::string_view kAllowableValues = "@Redfish.AllowableValues";

// Returns the list "<name>@Redfish.AllowableValues" beside the property of `object`, or null when
// there is none.
const nlohmann::json* AllowableValues(const nlohmann::json& object, const std::string& name);

// Returns the resource at a canonical URI, or null when there is none.
using FindResource = std::function<const nlohmann::json*(const std::string& uri)>;

// Returns the list for a parameter of an action as its resource describes it. The list is beside
// the action's target, or else in the ActionInfo that the action names (DSP0266, "Action info").
// Returns null when neither has one.
const nlohmann::json* AllowableValues(const nlohmann::json& action, const std::string& parameter,
                                      const FindResource& find);

}  // namespace shoal::redfish
