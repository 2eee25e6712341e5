// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/resource_text.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "redfish/capture/uri.h"

namespace shoal::dataset {
namespace {

constexpr std::array<std::string_view, 3> kDefinitionFolders = {
    "/redfish/v1/JsonSchemas", "/redfish/v1/Registries", "/redfish/v1/Schemas"};
constexpr std::array<std::string_view, 7> kDefinitionTypes = {
    "JsonSchemaFile",   "JsonSchemaFileCollection",      "MessageRegistryFile",
    "MessageRegistry",  "MessageRegistryFileCollection", "AttributeRegistry",
    "PrivilegeRegistry"};

// Returns "ComputerSystem" of "#ComputerSystem.v1_13_0.ComputerSystem".
std::string TypeName(const nlohmann::json& body) {
  const std::string type = redfish::TextAt(body, "@odata.type");
  const std::size_t begin = type.starts_with('#') ? 1 : 0;
  return type.substr(begin, type.find('.') - begin);
}

}  // namespace

bool IsDefinition(std::string_view uri, const nlohmann::json& body) {
  const auto below = [uri](std::string_view folder) { return redfish::IsAtOrBelow(uri, folder); };
  if (std::any_of(kDefinitionFolders.begin(), kDefinitionFolders.end(), below)) return true;
  if (body.contains("$schema")) return true;
  const std::string type = TypeName(body);
  return std::find(kDefinitionTypes.begin(), kDefinitionTypes.end(), type) !=
         kDefinitionTypes.end();
}

std::vector<std::string> MethodsOf(const redfish::ManifestEntry* recorded,
                                   const nlohmann::json& body, const redfish::Schema& schema) {
  std::set<std::string> methods = {"GET"};
  if (recorded != nullptr && !recorded->methods.empty()) {
    methods.insert(recorded->methods.begin(), recorded->methods.end());
    methods.erase("HEAD");
  } else {
    const redfish::AllowedMethods allowed = schema.Methods(redfish::TextAt(body, "@odata.type"));
    if (allowed.insert) methods.insert("POST");
    if (allowed.update) methods.insert("PATCH");
    if (allowed.remove) methods.insert("DELETE");
  }
  return {methods.begin(), methods.end()};
}

std::string RequestLine(std::string_view uri, const std::vector<std::string>& methods) {
  std::string line = "GET " + std::string(uri) + " [";
  for (const std::string& method : methods) {
    if (!line.ends_with('[')) line += ", ";
    line += method;
  }
  return line + "]\n";
}

}  // namespace shoal::dataset
