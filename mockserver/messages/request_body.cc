// SPDX-License-Identifier: Apache-2.0
#include "mockserver/messages/request_body.h"

#include <utility>

#include "mockserver/messages/extended_info.h"
#include "platform/content/parse_json.h"

namespace shoal::mockserver {
namespace {

RequestBody NoObject() { return {.refusal = ErrorResponse(400, "UnrecognizedRequestBody")}; }

}  // namespace

RequestBody ParseRequestBody(std::string_view text) {
  RequestBody body;
  Json json = content::ParseJson(text);
  if (json.is_discarded()) {
    body.refusal = ErrorResponse(400, "MalformedJSON");
  } else if (!json.is_object()) {
    return NoObject();
  } else {
    body.object = std::move(json);
  }
  return body;
}

RequestObject::RequestObject(const Request& request, bool may_be_empty) {
  if (request.json != nullptr) {
    object_ = request.json->is_object() ? request.json : nullptr;
    if (object_ == nullptr) parsed_ = NoObject();
    return;
  }
  if (request.body.empty() && may_be_empty) {
    parsed_.object = Json::object();
  } else {
    parsed_ = ParseRequestBody(request.body);
  }
  if (parsed_.object.has_value()) object_ = &*parsed_.object;
}

}  // namespace shoal::mockserver
