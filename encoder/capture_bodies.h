// SPDX-License-Identifier: Apache-2.0
// The bodies of captures' resources, as a service returns them.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::encoder {

struct CaptureBodies {
  std::string capture;
  // The digest of the capture.
  std::string digest;
  // In the order of URIs, without schemas and registries.
  std::vector<nlohmann::json> bodies;
};

// `captures` are names, archives or folders (redfish/capture/capture_path.h). Returns the errors of
// FindCapture and Capture::Load, and INVALID_ARGUMENT when a name comes twice or a capture has no
// body.
absl::StatusOr<std::vector<CaptureBodies>> LoadBodies(const std::vector<std::string>& captures,
                                                      const std::string& data);

// Returns the text of a body as actors send it: canonical, without volatile members.
std::string BodyText(const nlohmann::json& body);

// Returns the type of a body without its version, such as "#Chassis".
std::string BodyType(const nlohmann::json& body);

}  // namespace shoal::encoder
