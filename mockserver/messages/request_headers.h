// SPDX-License-Identifier: Apache-2.0
// Checks of the protocol headers that a client sends (DSP0266, "Request headers").
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "mockserver/messages/message.h"

namespace shoal::mockserver {

// Whether a PATCH must name, by If-Match, the version that it changes.
enum class Preconditions : std::uint8_t { kOptional, kRequired };

// What a request may carry in its body.
enum class BodyMedia : std::uint8_t {
  kJson,
  kForm,  // multipart/form-data (multipart.h)
};

// Returns whether a client that sent `accept` as its Accept header takes the media type `type`.
bool Accepts(std::string_view accept, std::string_view type);

// Returns 412 for an OData-Version other than 4.0, 415 for a body that is not of `media`, 428 for a
// PATCH without If-Match where `preconditions` are required, and nothing otherwise. A body whose
// media type is not given counts as JSON.
std::optional<Response> JudgeHeaders(const Request& request, Preconditions preconditions,
                                     BodyMedia media = BodyMedia::kJson);

}  // namespace shoal::mockserver
