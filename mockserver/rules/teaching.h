// SPDX-License-Identifier: Apache-2.0
// What an instance was taught at run time, by rules and by handlers outside, and how that answers
// requests before what is built in.
//
// Rules and handlers are in one order (route.h); of a rule and a handler with one name and equal
// conditions the rule is first.
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

// The rules and handlers that an instance was taught; each may be null.
struct TaughtBehaviours {
  const RuleSet* rules = nullptr;
  const ExternalHandlers* handlers = nullptr;
};

// `path` is the request's in canonical form; what names a resource otherwise (in other capitals, a
// collection by its Members) is matched by the resource's own URI. Returns nothing when no
// rule or handler matches the request, and 403 when one does but `principal` lacks the privilege.
std::optional<Response> AnswerAsTaught(Editor& editor, const Request& request,
                                       std::string_view path, const Principal* principal,
                                       const TaughtBehaviours& taught);

// The answer to the request of `call` now that its handler has replied or failed. Nothing changes
// unless the reply is good and the instance was not reset since: 504 when it was late, 503 when it
// could not be asked now or there was a reset, 502 otherwise.
Response CompleteExternally(Editor& editor, const ExternalCall& call,
                            absl::StatusOr<ExternalReply> reply);

}  // namespace shoal::mockserver
