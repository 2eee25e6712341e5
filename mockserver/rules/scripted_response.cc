// SPDX-License-Identifier: Apache-2.0
#include "mockserver/rules/scripted_response.h"

#include <absl/strings/match.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "mockserver/messages/extended_info.h"
#include "mockserver/messages/json_object.h"

namespace shoal::mockserver {
namespace {

constexpr std::array<const char*, 5> kFramingHeaders = {"Content-Length", "Content-Type",
                                                        "Transfer-Encoding", "Connection", "Date"};

// A token of RFC 9110, section 5.6.2.
bool IsToken(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

bool IsHeader(const std::string& name, const Json& value) {
  if (!IsToken(name) || !value.is_string()) return false;
  if (name.size() + value.get_ref<const std::string&>().size() > ScriptedResponse::kMaximumHeader) {
    return false;
  }
  return std::none_of(kFramingHeaders.begin(), kFramingHeaders.end(),
                      [&](const char* framing) { return absl::EqualsIgnoreCase(name, framing); });
}

absl::Status ReadHeaders(const Json& headers, ScriptedResponse& scripted) {
  if (!headers.is_object() || headers.size() > ScriptedResponse::kMaximumHeaders) {
    return runtime::InvalidArgument("\"headers\" is an object of at most " +
                                    std::to_string(ScriptedResponse::kMaximumHeaders) + " texts");
  }
  for (const auto& [name, value] : headers.items()) {
    if (!IsHeader(name, value)) {
      return runtime::InvalidArgument("\"headers\" cannot have \"" + name + "\" so");
    }
    scripted.headers.emplace_back(name, value.get<std::string>());
  }
  return absl::OkStatus();
}

absl::Status ReadBody(const Json& body, ScriptedResponse& scripted) {
  if (scripted.status == 204 || scripted.status == 304) {
    return runtime::InvalidArgument("\"body\" cannot be: the status has none");
  }
  if (Serialise(body).size() > ScriptedResponse::kMaximumBody) {
    return runtime::InvalidArgument("\"body\" is longer than " +
                                    std::to_string(ScriptedResponse::kMaximumBody) + " bytes");
  }
  scripted.body = body;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ScriptedResponse> ParseScriptedResponse(const Json& object) {
  ScriptedResponse scripted;
  SHOAL_ASSIGN_OR_RETURN(
      const std::int64_t status,
      IntegerMember(object, "status", {.minimum = 200, .maximum = 599, .absent = 200}));
  scripted.status = static_cast<int>(status);
  if (const auto body = object.find("body"); body != object.end()) {
    SHOAL_RETURN_IF_ERROR(ReadBody(*body, scripted));
  }
  if (const auto headers = object.find("headers"); headers != object.end()) {
    SHOAL_RETURN_IF_ERROR(ReadHeaders(*headers, scripted));
  }
  return scripted;
}

ScriptedResponse FillParts(const ScriptedResponse& scripted, const RequestParts& parts) {
  ScriptedResponse filled = scripted;
  if (filled.body) filled.body = FillParts(*filled.body, parts);
  for (auto& [name, value] : filled.headers) value = FillParts(value, parts);
  return filled;
}

Response ToResponse(ScriptedResponse scripted) {
  Response response = scripted.body ? JsonResponse(scripted.status, *std::move(scripted.body))
                                    : Response{.status = scripted.status};
  for (auto& [name, value] : scripted.headers) {
    if (absl::EqualsIgnoreCase(name, "Location")) {
      response.location = std::move(value);
    } else if (absl::EqualsIgnoreCase(name, "ETag")) {
      response.etag = std::move(value);
    } else {
      response.headers.emplace_back(name, std::move(value));
    }
  }
  return response;
}

}  // namespace shoal::mockserver
