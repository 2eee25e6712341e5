// SPDX-License-Identifier: Apache-2.0
// What a client says of its own protocol must fit this service's (DSP0266, "Request headers").
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "mockserver/messages/message.h"

namespace shoal::mockserver {

// Whether a PATCH must name the version that it changes, by If-Match.
enum class Preconditions : std::uint8_t { kOptional, kRequired };

// Whether a client that sent `accept`, the header's value, takes `type`.
bool Accepts(std::string_view accept, std::string_view type);

// 412 for another OData-Version than 4.0, 415 for a body that is no JSON, 428 for a PATCH without
// If-Match where `preconditions` are required; nothing otherwise.
std::optional<Response> JudgeHeaders(const Request& request, Preconditions preconditions);

}  // namespace shoal::mockserver
