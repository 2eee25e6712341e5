// SPDX-License-Identifier: Apache-2.0
#include "mockserver/rules/external_handlers.h"

#include <algorithm>
#include <utility>

#include "mockserver/messages/json_object.h"
#include "mockserver/messages/request_body.h"

namespace shoal::mockserver {

absl::StatusOr<ExternalHandler> ParseExternalHandler(const Json& json) {
  SHOAL_RETURN_IF_ERROR(CheckMembers(json, {"name", "method", "path", "url", "timeout_ms"}));
  SHOAL_ASSIGN_OR_RETURN(Route route, Route::Parse(json));
  SHOAL_ASSIGN_OR_RETURN(std::string url, NeededText(json, "url"));
  SHOAL_ASSIGN_OR_RETURN(
      const std::int64_t timeout,
      IntegerMember(json, "timeout_ms", {.minimum = 1, .maximum = 60'000, .absent = 5'000}));
  return ExternalHandler{.route = std::move(route),
                         .url = std::move(url),
                         .timeout = std::chrono::milliseconds(timeout)};
}

Json ToJson(const ExternalHandler& handler) {
  return {{"name", handler.route.name()},
          {"method", std::string(Name(handler.route.method()))},
          {"path", handler.route.path().pattern()},
          {"url", handler.url},
          {"timeout_ms", handler.timeout.count()}};
}

absl::StatusOr<std::shared_ptr<const ExternalHandlers>> ExternalHandlers::With(
    ExternalHandler handler) const {
  auto longer = std::make_shared<ExternalHandlers>();
  for (const ExternalHandler& one : handlers_) {
    if (one.route.name() != handler.route.name()) longer->handlers_.push_back(one);
  }
  if (longer->handlers_.size() >= kMaximumHandlers) {
    return runtime::ResourceExhausted("there are " + std::to_string(kMaximumHandlers) +
                                      " handlers, the limit");
  }
  const auto place = std::find_if(
      longer->handlers_.begin(), longer->handlers_.end(),
      [&](const ExternalHandler& one) { return ActsBefore(handler.route, one.route); });
  longer->handlers_.insert(place, std::move(handler));
  return longer;
}

std::shared_ptr<const ExternalHandlers> ExternalHandlers::Without(std::string_view name) const {
  auto shorter = std::make_shared<ExternalHandlers>();
  for (const ExternalHandler& one : handlers_) {
    if (one.route.name() != name) shorter->handlers_.push_back(one);
  }
  return shorter->handlers_.size() < handlers_.size() ? shorter : nullptr;
}

absl::StatusOr<ExternalReply> ParseExternalReply(std::string_view text) {
  const RequestBody parsed = ParseRequestBody(text);
  if (!parsed.object) return runtime::InvalidArgument("the answer is not a JSON object");
  const Json& json = *parsed.object;
  SHOAL_RETURN_IF_ERROR(CheckMembers(json, {"status", "body", "headers", "do"}));
  ExternalReply reply;
  SHOAL_ASSIGN_OR_RETURN(reply.response, ParseScriptedResponse(json));
  const auto operations = json.find("do");
  if (operations == json.end()) return reply;
  absl::StatusOr<std::vector<Operation>> read = ParseOperations(*operations);
  if (!read.ok()) return runtime::Annotate(read.status(), "\"do\"");
  reply.operations = *std::move(read);
  return reply;
}

}  // namespace shoal::mockserver
