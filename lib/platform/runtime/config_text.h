// SPDX-License-Identifier: Apache-2.0
// Texts about knobs for people: TOML, help, and ranges in error messages.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/config.h"

namespace shoal::runtime {

// Returns the shortest decimal text that reads back as `value`.
std::string NumberText(double value);
// Returns "1 .. 4096 rows", "at least 1" or "one of a, b"; empty when any value is allowed.
std::string RangeText(const KnobInfo& info);
// Returns " (did you mean x?)" when a known name is similar to `name`, or else an empty text.
std::string DidYouMean(std::string_view name, const std::vector<std::string>& known);

// Returns the section as TOML with the help as comments.
std::string PrintSection(const std::string& name, const std::function<void(Visitor&)>& visit);
// Returns one line for each knob: section.key = default  range  help.
std::string DescribeSection(const std::string& name, const std::function<void(Visitor&)>& visit);

}  // namespace shoal::runtime
