// SPDX-License-Identifier: Apache-2.0
// The interface of all behaviour: what a service does with a request that changes something.
//
//   void AddPower(HandlerTable& handlers) {
//     handlers.OnAction("ComputerSystem.Reset", &ResetPower);
//   }
//
// A handler is found by the action, or by method and resource type; vendors differ in paths, not in
// types. It is called when the resource is there, takes the method, If-Match names its version, and
// the body is a JSON object (for an action: one that schema and allowable values accept).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mockserver/messages/message.h"
#include "mockserver/service/editor.h"
#include "mockserver/service/world.h"

namespace shoal::mockserver {

struct Principal;

// Valid for the length of the call.
struct Call {
  const Request& request;
  // The resource addressed, or that has the action.
  ResourceId resource;
  // Null unless an action is called.
  const World::Action* action = nullptr;
  // An empty object when the request has none.
  const Json& body;
  // Who asks; null where nobody needs to say.
  const Principal* principal = nullptr;
};

using Handler = std::function<Response(Editor& editor, const Call& call)>;

// Answers for a canonical URI that is neither a resource nor an action, and judges itself what
// `principal` may do there (access.h); nothing when it is none of its own either.
using ElsewhereHandler = std::function<std::optional<Response>(
    Editor& editor, const Request& request, const Principal* principal, std::string_view uri)>;

// Moments of a system's boot at which hooks run, in this order.
enum class BootStage : std::uint8_t {
  kApply,  // what was asked for becomes current
  kStart,  // the boot's target is chosen
  kUp,     // the boot is recorded, and overrides of Once have reverted
};

// Reacts to a boot of `system`. `boot` is the detail of the history's record: "target" from kStart
// on, and what hooks of kStart add.
using BootHook = std::function<void(Editor& editor, ResourceId system, Json& boot)>;

class HandlerTable {
 public:
  // A table without any behaviour.
  static const HandlerTable& None();

  // `action` as in bodies without '#', "ComputerSystem.Reset".
  void OnAction(std::string action, Handler handler);
  // `type` without version: "SessionCollection".
  void On(Method method, std::string type, Handler handler);
  // Asked in order of registration.
  void OnElsewhere(ElsewhereHandler handler);
  // Hooks of one stage run in order of registration.
  void OnBoot(BootStage stage, BootHook hook);

  // Null when there is none. A type as bodies have it: "#Session.v1_1_0.Session".
  const Handler* FindAction(std::string_view action) const;
  const Handler* Find(Method method, std::string_view odata_type) const;
  std::optional<Response> AnswerElsewhere(Editor& editor, const Request& request,
                                          const Principal* principal, std::string_view uri) const;
  void RunBootHooks(BootStage stage, Editor& editor, ResourceId system, Json& boot) const;

 private:
  std::map<std::string, Handler, std::less<>> actions_;
  std::map<std::pair<std::string, Method>, Handler, std::less<>> types_;
  std::vector<ElsewhereHandler> elsewhere_;
  std::map<BootStage, std::vector<BootHook>> boot_hooks_;
};

// Success, in the world's style: ExtendedInfo or 204.
Response Done(const Editor& editor);
// 201 with the resource and its Location.
Response Created(Editor& editor, ResourceId id);

}  // namespace shoal::mockserver
