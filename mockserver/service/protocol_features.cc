// SPDX-License-Identifier: Apache-2.0
#include "mockserver/service/protocol_features.h"

#include <string>
#include <utility>

#include "redfish/capture/uri.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kFeatures = "/ProtocolFeaturesSupported";

}  // namespace

Json WithServedFeatures(const Json& root, const redfish::Schema& schema) {
  const Json* const captured = redfish::Resolve(root, kFeatures);
  if (captured == nullptr || !captured->is_object()) return root;
  const std::string type = redfish::TextAt(root, "@odata.type");
  Json features = *captured;
  const std::pair<const char*, Json> served[] = {{"/ExpandQuery/ExpandAll", true},
                                                 {"/ExpandQuery/Levels", true},
                                                 {"/ExpandQuery/Links", true},
                                                 {"/ExpandQuery/MaxLevels", kMaximumLevels},
                                                 {"/ExpandQuery/NoLinks", true},
                                                 {"/DeepOperations/DeepPATCH", false},
                                                 {"/DeepOperations/DeepPOST", false},
                                                 {"/ExcerptQuery", true},
                                                 {"/FilterQuery", true},
                                                 {"/OnlyMemberQuery", true},
                                                 {"/SelectQuery", true},
                                                 {"/TopSkipQuery", true}};
  for (const auto& [pointer, value] : served) {
    if (schema.Find(type, kFeatures + std::string(pointer)) == nullptr) continue;
    // What is not listed is not supported.
    if (value == Json(false) && redfish::Resolve(features, pointer) == nullptr) continue;
    redfish::Assign(features, pointer, value);
  }
  Json served_root = root;
  served_root["ProtocolFeaturesSupported"] = std::move(features);
  return served_root;
}

}  // namespace shoal::mockserver
