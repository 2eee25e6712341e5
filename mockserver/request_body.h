// SPDX-License-Identifier: Apache-2.0
// The JSON object in a request's body, as far as a service is ready to look at it.
#pragma once

#include <optional>
#include <string_view>

#include "mockserver/message.h"

namespace shoal::mockserver {

// What to answer instead when `object` is nothing.
struct RequestBody {
  std::optional<Json> object;
  Response refusal;
};

// Not JSON, or nested deeper than content::kMaximumNesting: 400 MalformedJSON. No object: 400
// UnrecognizedRequestBody.
RequestBody ParseRequestBody(std::string_view text);

}  // namespace shoal::mockserver
