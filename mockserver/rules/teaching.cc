// SPDX-License-Identifier: Apache-2.0
#include "mockserver/rules/teaching.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mockserver/access/access.h"
#include "mockserver/messages/etag.h"
#include "mockserver/messages/extended_info.h"
#include "mockserver/messages/request_body.h"
#include "mockserver/service/handler.h"

namespace shoal::mockserver {
namespace {

using Pieces = std::vector<std::string_view>;

// One request as rules and handlers see it.
class Asked {
 public:
  Asked(Editor& editor, const Request& request, std::string_view path, const Principal* principal)
      : editor_(editor),
        request_(request),
        principal_(principal),
        path_(path),
        resource_(editor.FindTarget(request.method, path)) {
    // Rules match the resource's own URI, so that other capitals or /Members cannot evade a rule.
    if (resource_) path_ = editor.Uri(*resource_);
    const World::Action* const action = editor.FindAction(path);
    if (!resource_ && action != nullptr) resource_ = action->resource;
    requested_ = resource_ ? editor.Uri(*resource_) : std::string(path);
  }

  std::optional<Response> By(const Rule& rule) {
    const std::optional<Pieces> pieces = rule.route.Match(request_.method, path_);
    if (!pieces || body() == nullptr) return std::nullopt;
    const RequestParts parts{*body(), *pieces};
    const bool matches =
        std::all_of(rule.body.begin(), rule.body.end(),
                    [&](const BodyCondition& condition) { return condition.Holds(parts.body); }) &&
        parts.Have(rule.takes) && (!rule.when || editor_.Holds(*rule.when, requested_)) &&
        (rule.probability >= 1.0 || editor_.random().Uniform() < rule.probability);
    if (!matches) return std::nullopt;
    if (std::optional<Response> refusal = Refuse()) return refusal;
    return IsStale() ? ErrorResponse(412, "PreconditionFailed") : Act(rule, parts);
  }

  std::optional<Response> By(const ExternalHandler& handler) {
    const std::optional<Pieces> pieces = handler.route.Match(request_.method, path_);
    if (!pieces) return std::nullopt;
    if (std::optional<Response> refusal = Refuse()) return refusal;
    return IsStale() ? ErrorResponse(412, "PreconditionFailed") : Ask(handler, *pieces);
  }

 private:
  // Returns null when the body is not a JSON object. Reads have an empty object.
  const Json* body() {
    static const Json kNothing = Json::object();
    if (Reads(request_.method)) return &kNothing;
    if (!object_) object_.emplace(request_, true);
    return object_->get();
  }

  std::optional<Response> Refuse() {
    if (!resource_) return std::nullopt;
    return Forbid(editor_, principal_, request_.method, *resource_, body());
  }

  // Returns whether If-Match names another version of the resource.
  bool IsStale() const {
    return resource_ && !request_.if_match.empty() && !Reads(request_.method) &&
           !Matches(request_.if_match, editor_.ETag(*resource_));
  }

  Response Act(const Rule& rule, const RequestParts& parts) {
    std::optional<ResourceId> created;
    if (!rule.operations.empty()) {
      std::vector<Operation> operations = FillParts(rule.operations, parts);
      if (rule.after.count() > 0) {
        Delay(rule, std::move(operations));
      } else {
        absl::StatusOr<std::optional<ResourceId>> done = Perform(editor_, operations, requested_);
        if (!done.ok()) return Refusal(rule, done.status());
        created = *done;
      }
    }
    if (rule.respond) return ToResponse(FillParts(*rule.respond, parts));
    return created ? Created(editor_, *created) : Done(editor_);
  }

  // Each existing URI has its own timer; all others share one, so that URIs that a peer makes up
  // cannot pile up timers.
  void Delay(const Rule& rule, std::vector<Operation> operations) {
    const std::string where = resource_ ? requested_ : std::string();
    editor_.SetTimer("rule:" + rule.route.name() + ':' + where, rule.after,
                     [operations = std::move(operations), requested = requested_](Editor& later) {
                       Perform(later, operations, requested).IgnoreError();
                     });
  }

  static Response Refusal(const Rule& rule, const absl::Status& status) {
    const std::string message = runtime::Message(status);
    if (absl::IsNotFound(status)) return ErrorResponse(404, "ResourceMissingAtURI", {message});
    return GeneralErrorResponse(409, "Rule " + rule.route.name() + ": " + message);
  }

  Response Ask(const ExternalHandler& handler, const Pieces& pieces) {
    Json headers = Json::object();
    for (const auto& [name, value] :
         {std::pair("If-Match", request_.if_match),
          std::pair("If-None-Match", request_.if_none_match),
          std::pair("OData-Version", request_.odata_version),
          std::pair("Content-Type", request_.content_type), std::pair("Accept", request_.accept)}) {
      if (!value.empty()) headers[name] = std::string(value);
    }
    const Json question = {{"name", handler.route.name()},
                           {"method", std::string(Name(handler.route.method()))},
                           {"uri", std::string(path_)},
                           {"path_pieces", std::vector<std::string>(pieces.begin(), pieces.end())},
                           {"body", body() == nullptr ? Json() : *body()},
                           {"headers", std::move(headers)},
                           {"resource", resource_ ? editor_.Read(*resource_) : Json()},
                           {"now_ms", editor_.now().count()},
                           {"draw", editor_.random().Uniform()}};
    Response response = GeneralErrorResponse(
        501, "Handler " + handler.route.name() + " is outside, and nobody here asks it.");
    response.external = std::make_shared<const ExternalCall>(
        ExternalCall{handler, Serialise(question), requested_, editor_.resets()});
    return response;
  }

  Editor& editor_;
  const Request& request_;
  const Principal* const principal_;
  std::string_view path_;
  std::optional<ResourceId> resource_;
  std::string requested_;
  std::optional<RequestObject> object_;
};

int StatusFor(const absl::Status& failure) {
  if (absl::IsDeadlineExceeded(failure)) return 504;
  return absl::IsResourceExhausted(failure) || absl::IsAborted(failure) ? 503 : 502;
}

absl::StatusOr<Response> TakeReply(Editor& editor, const ExternalCall& call,
                                   absl::StatusOr<ExternalReply> reply) {
  SHOAL_RETURN_IF_ERROR(reply.status());
  if (call.resets != editor.resets()) return absl::AbortedError("the service was reset meanwhile");
  if (call.handler.route.reads() && !reply->operations.empty()) {
    return runtime::InvalidArgument("a GET changes nothing, and \"do\" would");
  }
  SHOAL_RETURN_IF_ERROR(Perform(editor, reply->operations, call.requested).status());
  return ToResponse(std::move(reply->response));
}

}  // namespace

std::optional<Response> AnswerAsTaught(Editor& editor, const Request& request,
                                       std::string_view path, const Principal* principal,
                                       const TaughtBehaviours& taught) {
  std::span<const Rule> inside;
  if (taught.rules != nullptr) inside = taught.rules->rules();
  std::span<const ExternalHandler> outside;
  if (taught.handlers != nullptr) outside = taught.handlers->handlers();
  Asked asked(editor, request, path, principal);
  std::optional<Response> answer;
  while (!answer && !(inside.empty() && outside.empty())) {
    const bool rule_is_next =
        outside.empty() ||
        (!inside.empty() && !ActsBefore(outside.front().route, inside.front().route));
    if (rule_is_next) {
      answer = asked.By(inside.front());
      inside = inside.subspan(1);
    } else {
      answer = asked.By(outside.front());
      outside = outside.subspan(1);
    }
  }
  return answer;
}

Response CompleteExternally(Editor& editor, const ExternalCall& call,
                            absl::StatusOr<ExternalReply> reply) {
  absl::StatusOr<Response> response = TakeReply(editor, call, std::move(reply));
  if (response.ok()) return *std::move(response);
  return GeneralErrorResponse(
      StatusFor(response.status()),
      "Handler " + call.handler.route.name() + ": " + runtime::Message(response.status()));
}

}  // namespace shoal::mockserver
