// SPDX-License-Identifier: Apache-2.0
// A service's OpenAPI document (DSP0266, "OpenAPI schema description"): every captured URI and
// action with the methods that it takes.
#pragma once

#include <string>

namespace shoal::mockserver {

class World;

inline constexpr const char* kOpenApiUri = "/redfish/v1/openapi.yaml";

// Returns an OpenAPI 3.0 document as JSON, which is valid YAML.
std::string OpenApiOf(const World& world);

}  // namespace shoal::mockserver
