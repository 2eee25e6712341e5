// SPDX-License-Identifier: Apache-2.0
// The interface of every behaviour: what a service does with a request that changes something.
//
//   void AddPower(HandlerTable& handlers) {
//     handlers.OnAction("ComputerSystem.Reset", &ResetPower);
//   }
//
// A handler is found by its action, or by method and resource type, since vendors differ in paths
// but not in types. It is called only when the resource exists and takes the method, If-Match names
// the resource's version, and the body is a JSON object (for an action: one that the schema and the
// allowable values accept).
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

// The request that a handler answers. It is valid for the length of the call.
struct Call {
  const Request& request;
  // The resource that the request addresses, or the resource that has the action.
  ResourceId resource;
  // The action that is called, or null when the request calls none.
  const World::Action* action = nullptr;
  // The parsed body, or an empty object when the request has none.
  const Json& body;
  // The user who asks, or null where users need not log in.
  const Principal* principal = nullptr;
};

using Handler = std::function<Response(Editor& editor, const Call& call)>;

// Answers a request to a canonical URI that is neither a resource nor an action, and returns
// nothing when the URI is not its own either. The handler itself must check what `principal` may do
// there (access.h).
using ElsewhereHandler = std::function<std::optional<Response>(
    Editor& editor, const Request& request, const Principal* principal, std::string_view uri)>;

// The moments of a system's boot at which hooks run, in this order.
enum class BootStage : std::uint8_t {
  kApply,  // requested changes become current
  kStart,  // the boot's target is chosen
  kUp,     // the boot is recorded, and overrides of Once have reverted: react to it here
};

// Reacts to a boot of `system`. `boot` is the detail of the history's record; it has "target" from
// kStart on, and whatever hooks of kStart add.
using BootHook = std::function<void(Editor& editor, ResourceId system, Json& boot)>;

class HandlerTable {
 public:
  // Returns a table without any behaviour.
  static const HandlerTable& None();

  // Registers the handler of an action, named as in bodies but without '#': "ComputerSystem.Reset".
  void OnAction(std::string action, Handler handler);
  // Registers the handler of a method of a resource type, named without version:
  // "SessionCollection".
  void On(Method method, std::string type, Handler handler);
  // Registers a handler of other URIs. They are asked in order of registration.
  void OnElsewhere(ElsewhereHandler handler);
  // Registers a hook. The hooks of one stage run in order of registration.
  void OnBoot(BootStage stage, BootHook hook);

  // The Find functions return null when there is no handler. Find takes a type as bodies have it:
  // "#Session.v1_1_0.Session".
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

// Returns the success of a change in the world's style: 200 with Success, or 204.
Response Done(const Editor& editor);
// Returns 201 with the resource and its Location.
Response Created(Editor& editor, ResourceId id);

}  // namespace shoal::mockserver
