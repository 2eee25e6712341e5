// SPDX-License-Identifier: Apache-2.0
#include "mockserver/behaviours/actions.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "mockserver/messages/extended_info.h"
#include "redfish/capture/uri.h"
#include "redfish/schema/allowable_values.h"
#include "redfish/schema/schema.h"

namespace shoal::mockserver {
namespace {

const redfish::ActionDefinition* DefinitionOf(const Editor& editor, const World::Action& action) {
  return editor.world().schema().FindAction(editor.resource(action.resource).odata_type,
                                            action.name);
}

const redfish::Property* FindParameter(const redfish::ActionDefinition& definition,
                                       const std::string& name) {
  for (const redfish::Property& parameter : definition.parameters) {
    if (parameter.name == name) return &parameter;
  }
  return nullptr;
}

}  // namespace

bool IsDefined(const Editor& editor, const World::Action& action) {
  return DefinitionOf(editor, action) != nullptr;
}

std::vector<Json> JudgeParameters(const Editor& editor, const World::Action& action,
                                  const Json& parameters) {
  const redfish::ActionDefinition& definition = *DefinitionOf(editor, action);
  const Json* const object = editor.Read(action.resource, action.pointer);
  const redfish::FindResource find = [&editor](const std::string& uri) -> const Json* {
    const auto id = editor.Find(uri);
    return id.has_value() ? &editor.Read(*id) : nullptr;
  };
  std::vector<Json> problems;
  for (const auto& [name, value] : parameters.items()) {
    if (name.find('@') != std::string::npos) continue;
    const redfish::Property* const parameter = FindParameter(definition, name);
    if (parameter == nullptr) {
      problems.push_back(ExtendedInfo("ActionParameterUnknown", {action.name, name}));
      continue;
    }
    const std::string_view misfit = redfish::Misfit(*parameter, value);
    const Json* const allowed =
        object == nullptr ? nullptr : redfish::AllowableValues(*object, name, find);
    const bool is_listed =
        allowed == nullptr || std::find(allowed->begin(), allowed->end(), value) != allowed->end();
    if (misfit.empty() && is_listed) continue;
    const bool not_in_list = misfit.empty() || misfit == "PropertyValueNotInList";
    problems.push_back(ExtendedInfo(
        not_in_list ? "ActionParameterValueNotInList" : "ActionParameterValueTypeError",
        {Excerpt(value, name), name, action.name}));
  }
  for (const redfish::Property& parameter : definition.parameters) {
    if (!parameter.required || parameters.contains(parameter.name)) continue;
    problems.push_back(ExtendedInfo("ActionParameterMissing", {action.name, parameter.name}));
  }
  return problems;
}

}  // namespace shoal::mockserver
