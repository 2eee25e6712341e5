// SPDX-License-Identifier: Apache-2.0
// External handlers: programs outside this process that answer requests. This header defines who
// they are, what they are asked and what they answer.
//
// A handler has a "name", a "method" and a "path" as route.h reads them, and
//   "url": "http://127.0.0.1:9000/reset"   the URL to which requests are POSTed
//   "timeout_ms": 5000                     the limit for connecting, and again for answering
//
// While the handler works on a question, the instance is free for other requests. The question is
//   {"name", "method", "uri", "path_pieces": [..], "body": {..} or null, "headers": {..},
//    "resource": {..} or null, "now_ms": the virtual clock, "draw": in [0, 1), from the seed}
// `headers` are those that a service looks at, never credentials. `body` is null when the request's
// body is not a JSON object. `resource` is the addressed resource; for an action it is the resource
// that has the action. The handler answers 200 with
//   {"status"?, "body"?, "headers"?, "do"?: [..]}
// as scripted_response.h and operation.h read them, except that texts take no parts of the request.
// The operations are performed at the time of the answer, all or none. Anything else is a bad
// answer, and so is a "do" from a handler for GET.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mockserver/rules/operation.h"
#include "mockserver/rules/route.h"
#include "mockserver/rules/scripted_response.h"
#include "platform/runtime/status.h"

namespace shoal::mockserver {

struct ExternalHandler {
  Route route;
  std::string url;
  // The parts of the URL, filled in once it was checked.
  std::string address = {};
  std::string target = {};
  std::chrono::milliseconds timeout{5'000};
};

// Returns INVALID_ARGUMENT naming the member. The caller must check which URLs are allowed.
absl::StatusOr<ExternalHandler> ParseExternalHandler(const Json& json);
Json ToJson(const ExternalHandler& handler);

// The external handlers of an instance. Immutable.
class ExternalHandlers {
 public:
  static constexpr std::size_t kMaximumHandlers = 64;

  // Returns these handlers and `handler`, which replaces one of the same name. RESOURCE_EXHAUSTED
  // past kMaximumHandlers.
  absl::StatusOr<std::shared_ptr<const ExternalHandlers>> With(ExternalHandler handler) const;
  // Returns these handlers without the one called `name`, or null when there is none.
  std::shared_ptr<const ExternalHandlers> Without(std::string_view name) const;

  // The handlers in the order in which they act.
  std::span<const ExternalHandler> handlers() const { return handlers_; }

 private:
  std::vector<ExternalHandler> handlers_;
};

// A request that waits for an external handler.
struct ExternalCall {
  ExternalHandler handler;
  // The body that is POSTed.
  std::string question;
  // The URI of the resource that the request addresses.
  std::string requested;
  // The number of resets of the instance when the request came.
  std::uint64_t resets = 0;
};

struct ExternalReply {
  ScriptedResponse response;
  std::vector<Operation> operations;
};

// The size of the longest accepted answer, in bytes.
inline constexpr std::size_t kMaximumReply = std::size_t{1} << 20;

// Returns INVALID_ARGUMENT naming what is wrong with an answer's body.
absl::StatusOr<ExternalReply> ParseExternalReply(std::string_view text);

}  // namespace shoal::mockserver
