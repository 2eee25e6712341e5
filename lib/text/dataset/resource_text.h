// SPDX-License-Identifier: Apache-2.0
// A resource as the text that a dataset has of it: a request line, and what the service answers.
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
  // Ends with a line feed; empty where none is wanted.
  std::string request = {};
  // Canonical JSON (content/canonical_json.h) without what is volatile.
  std::string body = {};
};

// Schemas and registries, and the collections and files that list them: what the standard or a
// vendor says of resources, and no resource of a machine.
bool IsDefinition(std::string_view uri, const nlohmann::json& body);

// What the service itself said of the resource, without HEAD; where it said nothing, what the
// standard allows to a resource of its type. GET is always one of them. In order of their names.
std::vector<std::string> MethodsOf(const redfish::ManifestEntry* recorded,
                                   const nlohmann::json& body, const redfish::Schema& schema);

std::string RequestLine(std::string_view uri, const std::vector<std::string>& methods);

}  // namespace shoal::dataset
