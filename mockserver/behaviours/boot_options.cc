// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/boot_options.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "mockserver/messages/extended_info.h"
#include "mockserver/resources/patch.h"
#include "redfish/capture/uri.h"

namespace shoal::mockserver {
namespace {

constexpr const char* kTarget = "BootSourceOverrideTarget";
constexpr const char* kEnabled = "BootSourceOverrideEnabled";

std::set<std::string> OptionsOf(const Editor& editor, ResourceId system) {
  std::set<std::string> options;
  if (const auto collection = editor.Linked(system, "/Boot/BootOptions")) {
    for (const ResourceId option : editor.Members(*collection)) {
      options.insert(editor.Text(option, "/BootOptionReference"));
    }
  }
  const Json* const order = editor.Read(system, "/Boot/BootOrder");
  if (order != nullptr && order->is_array()) {
    for (const Json& option : *order) {
      if (option.is_string()) options.insert(option.get<std::string>());
    }
  }
  options.erase("");
  return options;
}

class BootJudge {
 public:
  BootJudge(const Editor& editor, const Call& call)
      : editor_(editor),
        asked_(call.resource),
        system_(editor.world().ActiveOf(call.resource).value_or(call.resource)),
        body_(call.body) {}

  std::optional<Json> Objection(const std::string& pointer, const Json& value) const {
    if (pointer == "/Boot/BootOrder") return OrderObjection(value);
    if (pointer == "/Boot/BootNext") return NextObjection(value);
    const bool overrides =
        pointer == "/Boot/BootSourceOverrideTarget" || pointer == "/Boot/BootSourceOverrideEnabled";
    const bool conflicts =
        overrides && Wanted(kTarget) == "UefiBootNext" && Wanted(kEnabled) == "Continuous";
    if (!conflicts) return std::nullopt;
    const bool is_target = pointer.ends_with(kTarget);
    return ExtendedInfo("PropertyValueConflict",
                        {is_target ? kTarget : kEnabled, is_target ? kEnabled : kTarget}, pointer);
  }

 private:
  static Json NotInList(const Json& value, const char* name) {
    return ExtendedInfo("PropertyValueNotInList", {Excerpt(value, name), name},
                        redfish::AppendPointer("/Boot", name));
  }

  std::optional<Json> OrderObjection(const Json& order) const {
    if (!order.is_array()) return std::nullopt;
    if (order.empty()) return NotInList(order, "BootOrder");
    const std::set<std::string> options = OptionsOf(editor_, system_);
    const auto unknown = std::find_if(order.begin(), order.end(), [&](const Json& option) {
      return !option.is_string() || !options.contains(option.get<std::string>());
    });
    if (options.empty() || unknown == order.end()) return std::nullopt;
    return NotInList(*unknown, "BootOrder");
  }

  std::optional<Json> NextObjection(const Json& next) const {
    const std::set<std::string> options = OptionsOf(editor_, system_);
    const bool is_known = options.empty() || !next.is_string() || next == Json("") ||
                          options.contains(next.get<std::string>());
    return is_known ? std::nullopt : std::optional(NotInList(next, "BootNext"));
  }

  // Returns the value that the property will have when the request is granted.
  std::string Wanted(const char* name) const {
    const std::string pointer = redfish::AppendPointer("/Boot", name);
    const Json* const given = redfish::Resolve(body_, pointer);
    if (given != nullptr) return given->is_string() ? given->get<std::string>() : std::string();
    const bool is_listed = editor_.Read(asked_, pointer) != nullptr;
    return editor_.Text(is_listed ? asked_ : system_, pointer);
  }

  const Editor& editor_;
  const ResourceId asked_;
  const ResourceId system_;
  const Json& body_;
};

Response PatchSystem(Editor& editor, const Call& call) {
  const BootJudge judge(editor, call);
  return Patch(editor, call.resource, call.body,
               {.objection = [&judge](const std::string& pointer, const Json& value) {
                 return judge.Objection(pointer, value);
               }});
}

Response SetDefaultBootOrder(Editor& editor, const Call& call) {
  const Json* const captured =
      redfish::Resolve(*editor.resource(call.resource).json, "/Boot/BootOrder");
  if (captured != nullptr) editor.Set(call.resource, "/Boot/BootOrder", *captured);
  return Done(editor);
}

}  // namespace

void AddBootOptions(HandlerTable& handlers) {
  handlers.OnAction("ComputerSystem.SetDefaultBootOrder", &SetDefaultBootOrder);
  handlers.On(Method::kPatch, "ComputerSystem", &PatchSystem);
}

}  // namespace shoal::mockserver
