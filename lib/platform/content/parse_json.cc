// SPDX-License-Identifier: Apache-2.0
#include "platform/content/parse_json.h"

#include "platform/content/nesting.h"

namespace shoal::content {

nlohmann::json ParseJson(std::string_view text) {
  if (NestsDeeperThan(text, kMaximumNesting)) {
    return nlohmann::json(nlohmann::json::value_t::discarded);
  }
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace shoal::content
