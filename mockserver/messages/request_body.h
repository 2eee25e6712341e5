// SPDX-License-Identifier: Apache-2.0
// The JSON object in a request's body, within the limits that a service accepts.
#pragma once

#include <optional>
#include <string_view>

#include "mockserver/messages/message.h"

namespace shoal::mockserver {

// The parsed body. When `object` is nothing, `refusal` is the answer to the request.
struct RequestBody {
  std::optional<Json> object = std::nullopt;
  Response refusal = {};
};

// Parses the body. The refusal is 400 MalformedJSON for text that is not JSON or nests deeper than
// content::kMaximumNesting, and 400 UnrecognizedRequestBody for JSON that is not an object.
RequestBody ParseRequestBody(std::string_view text);

// The JSON object of a request. It borrows the object when the request has it already parsed.
class RequestObject {
 public:
  // With `may_be_empty`, an empty body counts as an empty object.
  RequestObject(const Request& request, bool may_be_empty);
  RequestObject(const RequestObject&) = delete;
  RequestObject& operator=(const RequestObject&) = delete;

  // Returns null when the request must be answered with refusal().
  const Json* get() const { return object_; }
  const Response& refusal() const { return parsed_.refusal; }

 private:
  RequestBody parsed_;
  const Json* object_ = nullptr;
};

}  // namespace shoal::mockserver
