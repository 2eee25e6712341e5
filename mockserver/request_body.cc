// SPDX-License-Identifier: Apache-2.0
#include "mockserver/request_body.h"

#include <utility>

#include "content/parse_json.h"
#include "mockserver/extended_info.h"

namespace shoal::mockserver {

RequestBody ParseRequestBody(std::string_view text) {
  RequestBody body;
  Json json = content::ParseJson(text);
  if (json.is_discarded()) {
    body.refusal = ErrorResponse(400, "MalformedJSON");
  } else if (!json.is_object()) {
    body.refusal = ErrorResponse(400, "UnrecognizedRequestBody");
  } else {
    body.object = std::move(json);
  }
  return body;
}

}  // namespace shoal::mockserver
