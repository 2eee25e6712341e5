// SPDX-License-Identifier: Apache-2.0
// What an instance was taught at run time by rules and external handlers, and how these answer
// requests before everything built in.
//
// Rules and handlers share one order (route.h). When a rule and a handler have the same name and
// equal conditions, the rule comes first.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "mockserver/messages/message.h"
#include "mockserver/rules/external_handlers.h"
#include "mockserver/rules/rules.h"
#include "mockserver/service/editor.h"

namespace shoal::mockserver {

struct Principal;

// The rules and handlers that an instance was taught. Each may be null.
struct TaughtBehaviours {
  const RuleSet* rules = nullptr;
  const ExternalHandlers* handlers = nullptr;
};

// Returns the answer of the rule or handler that matches the request, nothing when none matches,
// and 403 when one does but `principal` lacks the privilege. `path` is the request's path in
// canonical form. A path that names a resource differently (in other capitals, or a collection by
// its Members) is matched by the resource's own URI.
std::optional<Response> AnswerAsTaught(Editor& editor, const Request& request,
                                       std::string_view path, const Principal* principal,
                                       const TaughtBehaviours& taught);

// Returns the answer to the request of `call` now that its handler has replied or failed. Nothing
// changes unless the reply is good and the instance was not reset since. Errors: 504 when the
// handler was too slow, 503 when it could not be asked at present or there was a reset, 502
// otherwise.
Response CompleteExternally(Editor& editor, const ExternalCall& call,
                            absl::StatusOr<ExternalReply> reply);

}  // namespace shoal::mockserver
