// SPDX-License-Identifier: Apache-2.0
#include "platform/http/rejection.h"

namespace shoal::http {

std::string ErrorBody(const Rejection& rejection) {
  const std::string id = "\"Base.1.22." + std::string(rejection.message_id) + "\"";
  const std::string message = "\"" + rejection.message + "\"";
  return "{\"error\":{\"code\":" + id + ",\"message\":" + message +
         ",\"@Message.ExtendedInfo\":[{\"@odata.type\":\"#Message.v1_1_2.Message\",\"MessageId\":" +
         id + ",\"Message\":" + message + ",\"MessageSeverity\":\"Critical\",\"Resolution\":\"" +
         std::string(rejection.resolution) + "\"}]}}";
}

Rejection InternalError() {
  return {.status = 500,
          .message_id = "InternalError",
          .message =
              "The request failed due to an internal service error.  The service is still "
              "operational.",
          .resolution =
              "Resubmit the request.  If the problem persists, consider resetting the "
              "service."};
}

Rejection NoPlainText() {
  return {.message = "This port speaks HTTPS.", .resolution = "Use an https URI."};
}

Rejection TooManyConnections() {
  return {.status = 503,
          .message_id = "ServiceTemporarilyUnavailable",
          .message = "The service is temporarily unavailable.  Retry in 1 seconds.",
          .resolution = "Wait for the indicated retry duration and retry the operation.",
          .header_lines = "Retry-After: 1\r\n"};
}

}  // namespace shoal::http
