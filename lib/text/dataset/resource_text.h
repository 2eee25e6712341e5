// SPDX-License-Identifier: Apache-2.0
// The text of a resource in a dataset: a request line, and the body that the service returns.
//
//   GET /redfish/v1/Systems/1 [GET, PATCH]
//   {"@odata.id":"/redfish/v1/Systems/1",...}
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "redfish/capture/manifest.h"
#include "redfish/schema/schema.h"

namespace shoal::dataset {

struct ResourceText {
  // Ends with a line feed; empty where no request line is wanted.
  std::string request = {};
  // Canonical JSON (platform/content/canonical_json.h) without volatile members.
  std::string body = {};
};

// Returns true for schemas and registries, and for the collections and files that list them. They
// describe resources, but are not resources of a machine.
bool IsDefinition(std::string_view uri, const nlohmann::json& body);

// Returns the methods that the service itself reported for the resource, without HEAD. If it
// reported none, returns those that the standard allows for a resource of its type. GET is always
// included. Sorted by name.
std::vector<std::string> MethodsOf(const redfish::ManifestEntry* recorded,
                                   const nlohmann::json& body, const redfish::Schema& schema);

std::string RequestLine(std::string_view uri, const std::vector<std::string>& methods);

}  // namespace shoal::dataset
