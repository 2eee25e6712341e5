// SPDX-License-Identifier: Apache-2.0
#include "mockserver/messages/extended_info.h"

#include <absl/strings/match.h>

#include <algorithm>
#include <array>
#include <utility>

#include "mockserver/messages/json_text.h"
#include "redfish/schema/base_messages.h"

namespace shoal::mockserver {
namespace {

const redfish::MessageDefinition& Find(std::string_view id) {
  const redfish::MessageDefinition* const found = redfish::FindBaseMessage(id);
  return found != nullptr ? *found : *redfish::FindBaseMessage("GeneralError");
}

std::string Fill(std::string_view text, std::initializer_list<std::string> args) {
  std::string filled;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool place = text[i] == '%' && i + 1 < text.size() && text[i + 1] >= '1' &&
                       static_cast<std::size_t>(text[i + 1] - '1') < args.size();
    if (place) {
      filled += *(args.begin() + (text[++i] - '1'));
    } else {
      filled += text[i];
    }
  }
  return filled;
}

bool IsSecret(std::string_view name) {
  constexpr std::array<std::string_view, 5> kEndings = {"password", "passphrase", "secret", "token",
                                                        "key"};
  return std::any_of(kEndings.begin(), kEndings.end(), [name](std::string_view ending) {
    return absl::EndsWithIgnoreCase({name.data(), name.size()}, {ending.data(), ending.size()});
  });
}

}  // namespace

Json ExtendedInfo(std::string_view id, std::initializer_list<std::string> args,
                  std::string_view property) {
  const redfish::MessageDefinition& definition = Find(id);
  const std::string severity(definition.severity);
  Json info = {
      {"@odata.type", "#Message.v1_1_2.Message"},
      {"MessageId", std::string(redfish::BaseRegistry()) + '.' + std::string(definition.id)},
      {"Message", Fill(definition.text, args)},
      {"MessageSeverity", severity},
      {"Severity", severity},
      {"Resolution", std::string(definition.resolution)}};
  if (args.size() > 0) info["MessageArgs"] = Json(std::vector<std::string>(args));
  if (!property.empty()) info["RelatedProperties"] = Json::array({std::string(property)});
  return info;
}

Response ErrorResponse(int status, std::vector<Json> messages) {
  const Json general = ExtendedInfo("GeneralError");
  const Json& head = messages.size() == 1 ? messages.front() : general;
  Json error = {{"code", head["MessageId"]}, {"message", head["Message"]}};
  error["@Message.ExtendedInfo"] = std::move(messages);
  Json body = Json::object();
  body["error"] = std::move(error);
  return JsonResponse(status, std::move(body));
}

Response ErrorResponse(int status, std::string_view id, std::initializer_list<std::string> args) {
  std::vector<Json> messages;
  messages.push_back(ExtendedInfo(id, args));
  return ErrorResponse(status, std::move(messages));
}

Response GeneralErrorResponse(int status, const std::string& message) {
  Json info = ExtendedInfo("GeneralError");
  info["Message"] = message;
  std::vector<Json> messages;
  messages.push_back(std::move(info));
  return ErrorResponse(status, std::move(messages));
}

Response SuccessResponse() {
  static const Response kSuccess = [] {
    Json body = Json::object();
    body["@Message.ExtendedInfo"] = Json::array({ExtendedInfo("Success")});
    return JsonResponse(200, std::move(body));
  }();
  return kSuccess;
}

Response JsonResponse(int status, Json json) {
  Response response;
  response.status = status;
  response.body = std::make_shared<const std::string>(Serialise(json));
  response.json = std::make_shared<const Json>(std::move(json));
  return response;
}

std::string Excerpt(const Json& value, std::string_view name) {
  constexpr std::size_t kMaximum = 100;
  if (IsSecret(name)) return "******";
  std::string text = value.is_string() ? value.get<std::string>() : Serialise(value);
  if (text.size() > kMaximum) text.replace(kMaximum, std::string::npos, "...");
  return text;
}

std::string Serialise(const Json& json) {
  std::string text;
  AppendText(text, json);
  return text;
}

}  // namespace shoal::mockserver
