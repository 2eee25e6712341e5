// SPDX-License-Identifier: Apache-2.0
// An answer to a request that no handler sees: an HTTP status and a Redfish error (DSP0266, "Error
// responses"; ids are those of the Base message registry 1.22).
#pragma once

#include <string>
#include <string_view>

namespace shoal::http {

struct Rejection {
  int status = 400;
  // A name in the Base registry: "HeaderInvalid".
  std::string_view message_id = "GeneralError";
  // Text that needs no JSON escape: nothing that a peer sent.
  std::string message = {};
  std::string_view resolution = "Correct the request and resubmit it.";
  // Further ones, as in ServerResponse.
  std::string header_lines = {};
};

// {"error": {"code", "message", "@Message.ExtendedInfo": [...]}}
std::string ErrorBody(const Rejection& rejection);

// 500, for a handler that failed or never answered.
Rejection InternalError();

// 400, for plain text on a port for TLS that cannot be redirected.
Rejection NoPlainText();

// 503, for a connection past the limit.
Rejection TooManyConnections();

}  // namespace shoal::http
