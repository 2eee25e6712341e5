// SPDX-License-Identifier: Apache-2.0
// Handlers that are programs of someone else's: who they are, what they are asked, what they
// answer.
//
// A handler has a "name", a "method" and a "path" as route.h reads them, and
//   "url": "http://127.0.0.1:9000/reset"   where it is asked
//   "timeout_ms": 5000                     how long it may take to accept, and then to answer
//
// It is asked by POST, with the instance free for other requests meanwhile:
//   {"name", "method", "uri", "path_pieces": [..], "body": {..} or null, "headers": {..},
//    "resource": {..} or null, "now_ms": the virtual clock, "draw": in [0, 1), from the seed}
// `headers` are those that a service looks at, credentials never; `body` is null when it is no JSON
// object; `resource` is the one addressed, of an action the one that has it. It answers 200 with
//   {"status"?, "body"?, "headers"?, "do"?: [..]}
// as scripted_response.h and operation.h read them; texts are taken as they are. Operations happen
// at the time of the answer, all or none. Anything else, and what a handler for GET has in "do", is
// a bad answer.
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
  // Of the URL, once it was judged.
  std::string address = {};
  std::string target = {};
  std::chrono::milliseconds timeout{5'000};
};

// INVALID_ARGUMENT naming the member. What the URL may be is its caller's business.
absl::StatusOr<ExternalHandler> ParseExternalHandler(const Json& json);
Json ToJson(const ExternalHandler& handler);

// The handlers of an instance; immutable.
class ExternalHandlers {
 public:
  static constexpr std::size_t kMaximumHandlers = 64;

  // These and `handler`, in the place of one of its name. RESOURCE_EXHAUSTED.
  absl::StatusOr<std::shared_ptr<const ExternalHandlers>> With(ExternalHandler handler) const;
  // These without the one called `name`; null when there is none.
  std::shared_ptr<const ExternalHandlers> Without(std::string_view name) const;

  // The one that acts before others first.
  std::span<const ExternalHandler> handlers() const { return handlers_; }

 private:
  std::vector<ExternalHandler> handlers_;
};

// A request that waits for a handler.
struct ExternalCall {
  ExternalHandler handler;
  // What is POSTed.
  std::string question;
  // The URI of the resource that the request addresses.
  std::string requested;
  // How often the instance had been reset.
  std::uint64_t resets = 0;
};

struct ExternalReply {
  ScriptedResponse response;
  std::vector<Operation> operations;
};

// The longest answer that is read.
inline constexpr std::size_t kMaximumReply = std::size_t{1} << 20;

// INVALID_ARGUMENT naming what is wrong with an answer's body.
absl::StatusOr<ExternalReply> ParseExternalReply(std::string_view text);

}  // namespace shoal::mockserver
