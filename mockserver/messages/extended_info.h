// SPDX-License-Identifier: Apache-2.0
// What a service says about a request, in the words of the standard's Base message registry.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/messages/message.h"

namespace shoal::mockserver {

// One element of @Message.ExtendedInfo. `id` is a name of the registry, "PropertyUnknown", another
// one stands for GeneralError; `args` fill its %1, %2, ...; `property` is the JSON Pointer of what
// it is about, empty for none. Clients of before Message 1.1 read Severity, later ones
// MessageSeverity: both are there.
Json ExtendedInfo(std::string_view id, std::initializer_list<std::string> args = {},
                  std::string_view property = {});

// {"error": {code, message, @Message.ExtendedInfo}}; the code is the first message's, or
// GeneralError when there are several. REQUIRES: `messages` is not empty.
Response ErrorResponse(int status, std::vector<Json> messages);
Response ErrorResponse(int status, std::string_view id,
                       std::initializer_list<std::string> args = {});

// The same for what the registry has no words for: GeneralError, with `message` as its text.
Response GeneralErrorResponse(int status, const std::string& message);

// 200 with the registry's Success; the same text object each time.
Response SuccessResponse();

// A response whose body is `json`.
Response JsonResponse(int status, Json json);

// `value` of the property or parameter `name` as an argument of a message: at most 100 bytes of it,
// none when the name says that it is a secret.
std::string Excerpt(const Json& value, std::string_view name);

// JSON as this service writes it: invalid UTF-8 is replaced, never an error.
std::string Serialise(const Json& json);

}  // namespace shoal::mockserver
