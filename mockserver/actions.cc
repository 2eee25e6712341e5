// SPDX-License-Identifier: Apache-2.0
#include "mockserver/actions.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "mockserver/extended_info.h"
#include "mockserver/power.h"
#include "mockserver/request_body.h"
#include "mockserver/virtual_media.h"
#include "redfish/allowable_values.h"
#include "redfish/schema.h"

namespace shoal::mockserver {
namespace {

struct Entry {
  std::string_view name;
  ActionHandler handle;
};

constexpr std::array kHandlers = {
    Entry{"ComputerSystem.Reset", &ResetPower},
    Entry{"Chassis.Reset", &ResetPower},
    Entry{"VirtualMedia.InsertMedia", &InsertMedia},
    Entry{"VirtualMedia.EjectMedia", &EjectMedia},
};

const redfish::Property* FindParameter(const redfish::ActionDefinition& definition,
                                       const std::string& name) {
  for (const redfish::Property& parameter : definition.parameters) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

// What is wrong with the parameters, as messages.
std::vector<Json> Judge(const Editor& editor, const World::Action& action,
                        const redfish::ActionDefinition& definition, const Json& body) {
  const redfish::FindResource find = [&editor](const std::string& uri) -> const Json* {
    const auto id = editor.world().Find(uri);
    return id.has_value() ? &editor.Read(*id) : nullptr;
  };
  std::vector<Json> problems;
  for (const auto& [name, value] : body.items()) {
    if (name.find('@') != std::string::npos) continue;
    const redfish::Property* const parameter = FindParameter(definition, name);
    if (parameter == nullptr) {
      problems.push_back(ExtendedInfo("ActionParameterUnknown", {action.name, name}));
      continue;
    }
    const std::string_view misfit = redfish::Misfit(*parameter, value);
    const Json* const allowed = redfish::AllowableValues(*action.object, name, find);
    const bool is_listed =
        allowed == nullptr || std::find(allowed->begin(), allowed->end(), value) != allowed->end();
    if (misfit.empty() && is_listed) continue;
    const bool not_in_list = misfit.empty() || misfit == "PropertyValueNotInList";
    problems.push_back(ExtendedInfo(
        not_in_list ? "ActionParameterValueNotInList" : "ActionParameterValueTypeError",
        {Excerpt(value), name, action.name}));
  }
  for (const redfish::Property& parameter : definition.parameters) {
    if (!parameter.required || body.contains(parameter.name)) continue;
    problems.push_back(ExtendedInfo("ActionParameterMissing", {action.name, parameter.name}));
  }
  return problems;
}

}  // namespace

Response PostAction(Editor& editor, const World::Action& action, const Request& request) {
  const RequestBody body = ParseRequestBody(request.body.empty() ? "{}" : request.body);
  if (!body.object.has_value()) return body.refusal;
  const std::string& type = editor.world().resource(action.resource).odata_type;
  const auto handler = std::find_if(kHandlers.begin(), kHandlers.end(),
                                    [&](const Entry& entry) { return entry.name == action.name; });
  const redfish::ActionDefinition* const definition =
      editor.world().schema().FindAction(type, action.name);
  if (handler == kHandlers.end() || definition == nullptr) {
    return ErrorResponse(404, "ActionNotSupported", {action.name});
  }
  std::vector<Json> problems = Judge(editor, action, *definition, *body.object);
  if (!problems.empty()) return ErrorResponse(400, std::move(problems));
  return handler->handle(editor, action, *body.object);
}

Response ActionDone(const Editor& editor) {
  return editor.world().options().style == WorldOptions::Style::kNoContent ? Response{.status = 204}
                                                                           : SuccessResponse();
}

}  // namespace shoal::mockserver
