// SPDX-License-Identifier: Apache-2.0
// The JSON object in a request's body, as far as a service is ready to look at it.
#pragma once

#include <optional>
#include <string_view>

#include "mockserver/messages/message.h"

namespace shoal::mockserver {

// What to answer instead when `object` is nothing.
struct RequestBody {
  std::optional<Json> object = std::nullopt;
  Response refusal = {};
};

// Not JSON, or nested deeper than content::kMaximumNesting: 400 MalformedJSON. No object: 400
// UnrecognizedRequestBody.
RequestBody ParseRequestBody(std::string_view text);

// The object that a request brings, as text or as a value, which it borrows.
class RequestObject {
 public:
  // With `may_be_empty`, no text is an empty object.
  RequestObject(const Request& request, bool may_be_empty);
  RequestObject(const RequestObject&) = delete;
  RequestObject& operator=(const RequestObject&) = delete;

  // Null: refusal() is the answer.
  const Json* get() const { return object_; }
  const Response& refusal() const { return parsed_.refusal; }

 private:
  RequestBody parsed_;
  const Json* object_ = nullptr;
};

}  // namespace shoal::mockserver
