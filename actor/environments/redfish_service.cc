// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/redfish_service.h"

#include "platform/content/parse_json.h"

namespace shoal::actor {

std::shared_ptr<const nlohmann::json> JsonOf(const ServiceResponse& response) {
  if (response.json != nullptr) return response.json;
  return std::make_shared<const nlohmann::json>(
      response.body == nullptr ? nlohmann::json() : content::ParseJson(*response.body));
}

}  // namespace shoal::actor
