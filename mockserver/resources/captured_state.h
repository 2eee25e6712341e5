// SPDX-License-Identifier: Apache-2.0
// Restores captured state, which stands for a device's factory defaults because captures do not
// tell what those are.
#pragma once

#include <functional>
#include <string_view>

#include "mockserver/service/editor.h"

namespace shoal::mockserver {

// Restores the captured properties of the resource at the canonical `uri` and of all resources
// below it. Removed resources come back, and members that were created since are removed. A
// resource for which `keeps` returns true stays as it is, with everything below it.
void RestoreCaptured(Editor& editor, std::string_view uri,
                     const std::function<bool(const World::Resource&)>& keeps = {});

}  // namespace shoal::mockserver
