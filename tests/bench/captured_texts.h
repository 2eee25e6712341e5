// SPDX-License-Identifier: Apache-2.0
// The texts that benches measure on: the canonical texts of captured resources.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "platform/runtime/status.h"

namespace shoal::bench {

// Calls `visit` with the text of each resource of each .tar.xz in `folder`, in order of their
// names, until it returns false. Returns NOT_FOUND if there is no capture, or the errors of
// redfish::Capture::Load.
absl::Status VisitCapturedTexts(const std::string& folder,
                                const std::function<bool(std::string_view text)>& visit);

}  // namespace shoal::bench
