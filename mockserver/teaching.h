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

#include "mockserver/editor.h"
#include "mockserver/external_handlers.h"
#include "mockserver/message.h"
#include "mockserver/rules.h"

namespace shoal::mockserver {

// `path` is the request's in canonical form. Nothing when neither rules nor handlers, each of which
// may be null, are for this request.
std::optional<Response> AnswerAsTaught(Editor& editor, const Request& request,
                                       std::string_view path, const RuleSet* rules,
                                       const ExternalHandlers* handlers);

// The answer to the request of `call` now that its handler has replied or failed. Nothing changes
// unless the reply is good and the instance was not reset since: 504 when it was late, 503 when it
// could not be asked now or there was a reset, 502 otherwise.
Response CompleteExternally(Editor& editor, const ExternalCall& call,
                            absl::StatusOr<ExternalReply> reply);

}  // namespace shoal::mockserver
