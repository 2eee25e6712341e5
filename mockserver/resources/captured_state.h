// SPDX-License-Identifier: Apache-2.0
// The way back to what was captured, which stands for a device's factory defaults: captures do not
// say what those are.
#pragma once

#include <functional>
#include <string_view>

#include "mockserver/service/editor.h"

namespace shoal::mockserver {

// Gives the resource at `uri`, canonical, and all below it the properties that they were captured
// with; what was removed comes back, and members that came since go. A resource of which `keeps` is
// true stays as it is, with all below it.
void RestoreCaptured(Editor& editor, std::string_view uri,
                     const std::function<bool(const World::Resource&)>& keeps = {});

}  // namespace shoal::mockserver
