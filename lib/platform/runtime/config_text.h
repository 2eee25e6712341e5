// SPDX-License-Identifier: Apache-2.0
// How knobs are written for people: as TOML, as help, as ranges in error messages.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/config.h"

namespace shoal::runtime {

// Shortest decimal text that reads back as `value`.
std::string NumberText(double value);
// "1 .. 4096 rows", "at least 1", "one of a, b"; empty when anything goes.
std::string RangeText(const KnobInfo& info);
// " (did you mean x?)" when a known name is near, else nothing.
std::string DidYouMean(std::string_view name, const std::vector<std::string>& known);

// The section as TOML with help as comments.
std::string PrintSection(const std::string& name, const std::function<void(Visitor&)>& visit);
// One line a knob: section.key = default  range  help.
std::string DescribeSection(const std::string& name, const std::function<void(Visitor&)>& visit);

}  // namespace shoal::runtime
