// SPDX-License-Identifier: Apache-2.0
// Errors and messages to a client, in the words of the standard's Base message registry.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/messages/message.h"

namespace shoal::mockserver {

// Returns one element of @Message.ExtendedInfo. `id` is a message of the registry, such as
// "PropertyUnknown"; an id that the registry lacks stands for GeneralError. `args` fill %1, %2, ...
// of the message. `property` is the JSON Pointer of the property concerned, or empty for none. The
// element has both Severity, for clients older than Message 1.1, and MessageSeverity.
Json ExtendedInfo(std::string_view id, std::initializer_list<std::string> args = {},
                  std::string_view property = {});

// Returns {"error": {code, message, @Message.ExtendedInfo}}. The code is that of the only message,
// or GeneralError when there are several. REQUIRES: `messages` is not empty.
Response ErrorResponse(int status, std::vector<Json> messages);
Response ErrorResponse(int status, std::string_view id,
                       std::initializer_list<std::string> args = {});

// Returns an error that the registry has no words for: GeneralError with `message` as its text.
Response GeneralErrorResponse(int status, const std::string& message);

// Returns 200 with the registry's Success. Every call returns the same text object.
Response SuccessResponse();

// Returns a response whose body is `json`.
Response JsonResponse(int status, Json json);

// Returns `value`, the value of the property or parameter `name`, as an argument of a message: its
// first 100 bytes, with "..." after them when it is longer, or "******" when the name marks a
// secret.
std::string Excerpt(const Json& value, std::string_view name);

// Serialises JSON as this service writes it. Invalid UTF-8 is replaced and is never an error.
std::string Serialise(const Json& json);

}  // namespace shoal::mockserver
