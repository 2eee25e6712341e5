// SPDX-License-Identifier: Apache-2.0
#include "mockserver/process/control_response.h"

#include <memory>
#include <utility>

#include "mockserver/messages/extended_info.h"
#include "mockserver/messages/request_body.h"

namespace shoal::mockserver {

http::ServerResponse ControlAnswer(int status, const Json& body) {
  return {.status = status, .body = std::make_shared<const std::string>(Serialise(body))};
}

http::ServerResponse ControlError(int status, std::string_view code, const std::string& message) {
  return ControlAnswer(status, {{"error", {{"code", std::string(code)}, {"message", message}}}});
}

http::ServerResponse ControlError(const absl::Status& status) {
  const std::string message = runtime::Message(status);
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
      return ControlError(404, "NotFound", message);
    case absl::StatusCode::kResourceExhausted:
      return ControlError(429, "TooMany", message);
    default:
      return ControlError(400, "InvalidArgument", message);
  }
}

http::ServerResponse ControlMethodNotAllowed(std::string_view allow) {
  http::ServerResponse answer = ControlError(405, "MethodNotAllowed", "use " + std::string(allow));
  http::AppendHeader(answer.header_lines, "Allow", allow);
  return answer;
}

http::ServerResponse ControlUnknownInstance(std::string_view id) {
  http::ServerResponse answer = ControlError(404, "NotFound", "no instance " + std::string(id));
  http::AppendHeader(answer.header_lines, kErrorHeader, kUnknownInstance);
  return answer;
}

http::ServerResponse ControlProgress(const redfish::Progress& progress) {
  return ControlAnswer(200, {{"satisfied", progress.satisfied},
                             {"milestones", progress.milestones},
                             {"open", progress.open},
                             {"collateral", progress.collateral}});
}

absl::StatusOr<Json> ParseControlBody(std::string_view body) {
  RequestBody parsed = ParseRequestBody(body.empty() ? "{}" : body);
  if (!parsed.object.has_value()) return runtime::InvalidArgument("the body is not a JSON object");
  return *std::move(parsed.object);
}

}  // namespace shoal::mockserver
