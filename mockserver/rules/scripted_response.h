// SPDX-License-Identifier: Apache-2.0
// A response written as data: {"status": 503, "body"?: any JSON, "headers"?: {"Retry-After": "5"}}.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mockserver/messages/message.h"
#include "mockserver/rules/request_parts.h"
#include "platform/runtime/status.h"

namespace shoal::mockserver {

struct ScriptedResponse {
  static constexpr std::size_t kMaximumBody = std::size_t{256} << 10;
  static constexpr std::size_t kMaximumHeaders = 16;
  static constexpr std::size_t kMaximumHeader = 1024;

  int status = 200;
  std::optional<Json> body;
  std::vector<std::pair<std::string, std::string>> headers;
};

// Reads the three members of `object`, which may have others. Returns INVALID_ARGUMENT naming the
// member: a status must be 200 to 599, 204 and 304 have no body, sizes are bounded, and headers
// must not be those that frame a message (Content-Length, Content-Type, Transfer-Encoding,
// Connection, Date).
absl::StatusOr<ScriptedResponse> ParseScriptedResponse(const Json& object);

ScriptedResponse FillParts(const ScriptedResponse& scripted, const RequestParts& parts);

Response ToResponse(ScriptedResponse scripted);

}  // namespace shoal::mockserver
