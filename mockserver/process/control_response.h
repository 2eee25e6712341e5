// SPDX-License-Identifier: Apache-2.0
// Responses of the control API: JSON, and errors as {"error": {"code", "message"}}.
#pragma once

#include <string>
#include <string_view>

#include "mockserver/messages/message.h"
#include "mockserver/service/instance_state.h"
#include "platform/http/message.h"
#include "platform/runtime/status.h"

namespace shoal::mockserver {

// The header, and its value, that tells a client to create its instance again.
inline constexpr std::string_view kErrorHeader = "Shoal-Error";
inline constexpr std::string_view kUnknownInstance = "unknown-instance";

http::ServerResponse ControlAnswer(int status, const Json& body);
http::ServerResponse ControlError(int status, std::string_view code, const std::string& message);
// Returns 404, 429 or 400 by the code of `status`.
http::ServerResponse ControlError(const absl::Status& status);
http::ServerResponse ControlMethodNotAllowed(std::string_view allow);
http::ServerResponse ControlUnknownInstance(std::string_view id);

// Returns the progress of an instance's watch.
http::ServerResponse ControlProgress(const redfish::Progress& progress);

// Returns the object in a request's body, or an empty object for an empty body. INVALID_ARGUMENT.
absl::StatusOr<Json> ParseControlBody(std::string_view body);

}  // namespace shoal::mockserver
