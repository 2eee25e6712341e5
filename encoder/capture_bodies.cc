// SPDX-License-Identifier: Apache-2.0
#include "encoder/capture_bodies.h"

#include <set>

#include "platform/content/canonical_json.h"
#include "redfish/capture/capture.h"
#include "redfish/capture/capture_path.h"
#include "text/dataset/resource_text.h"

namespace shoal::encoder {

absl::StatusOr<std::vector<CaptureBodies>> LoadBodies(const std::vector<std::string>& captures,
                                                      const std::string& data) {
  std::vector<CaptureBodies> all;
  std::set<std::string> names;
  for (const std::string& named : captures) {
    SHOAL_ASSIGN_OR_RETURN(const std::string path, redfish::FindCapture(named, data));
    SHOAL_ASSIGN_OR_RETURN(const auto capture, redfish::Capture::Load(path));
    if (!names.insert(capture->name()).second) {
      return runtime::InvalidArgument("the capture " + capture->name() + " comes twice");
    }
    CaptureBodies loaded{capture->name(), capture->digest(), {}};
    for (const auto& [uri, body] : capture->resources()) {
      if (!dataset::IsDefinition(uri, body)) loaded.bodies.push_back(body);
    }
    if (loaded.bodies.empty()) {
      return runtime::InvalidArgument("the capture " + capture->name() + " has no body");
    }
    all.push_back(std::move(loaded));
  }
  return all;
}

std::string BodyText(const nlohmann::json& body) {
  return content::CanonicalJson(body, content::DefaultVolatileNames());
}

std::string BodyType(const nlohmann::json& body) {
  const auto type = body.find("@odata.type");
  if (type == body.end() || !type->is_string()) return "";
  const std::string& text = type->get_ref<const std::string&>();
  return text.substr(0, text.find('.'));
}

}  // namespace shoal::encoder
