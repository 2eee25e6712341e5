// SPDX-License-Identifier: Apache-2.0
// The values that a service itself lists for a property, or for a parameter of an action.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace shoal::redfish {

inline constexpr std::string_view kAllowableValues = "@Redfish.AllowableValues";

// What stands beside the property of `object`, "<name>@Redfish.AllowableValues"; null when nothing
// does.
const nlohmann::json* AllowableValues(const nlohmann::json& object, const std::string& name);

// The resource at a canonical URI; null when there is none.
using FindResource = std::function<const nlohmann::json*(const std::string& uri)>;

// For a parameter of an action as its resource describes it: beside its target, else in the
// ActionInfo that it names (DSP0266, "Action info"). Null when neither lists any.
const nlohmann::json* AllowableValues(const nlohmann::json& action, const std::string& parameter,
                                      const FindResource& find);

}  // namespace shoal::redfish
