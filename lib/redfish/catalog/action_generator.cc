// SPDX-License-Identifier: Apache-2.0
// The half of CandidateGenerator that makes POST candidates of actions.
#include <algorithm>
#include <utility>

#include "redfish/capture/uri.h"
#include "redfish/catalog/candidate_generator.h"
#include "redfish/catalog/catalog.h"
#include "redfish/schema/allowable_values.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

template <typename Parameters>
auto& Named(Parameters& parameters, const std::string& name) {
  for (auto& parameter : parameters) {
    if (parameter.name == name) return parameter;
  }
  auto& added = parameters.emplace_back();
  added.name = name;
  return added;
}

PropertyKind KindOfDataType(const std::string& type) {
  if (type == "Boolean") return PropertyKind::kBoolean;
  if (type == "Number") return PropertyKind::kNumber;
  if (type == "String") return PropertyKind::kString;
  return PropertyKind::kAny;
}

}  // namespace

void CandidateGenerator::AddActions(const std::string& uri, const Json& resource,
                                    const Json& actions) {
  const std::string type = TextAt(resource, "@odata.type");
  for (const auto& [name, description] : actions.items()) {
    if (!description.is_object()) continue;
    if (name == "Oem") {
      AddActions(uri, resource, description);
    } else if (name.starts_with('#')) {
      AddAction(resource, type, name.substr(1), description);
    }
  }
}

void CandidateGenerator::AddAction(const Json& resource, const std::string& type,
                                   const std::string& name, const Json& description) {
  const std::string target = CanonicalUri(TextAt(description, "target"));
  if (target.empty()) return LeaveOut("actions without a target");
  Candidate base = Start("POST", target, resource);
  base.action = name;
  base.body = Json::object();
  KeepChoices(base, Parameters(type, name, description), "actions");
}

void CandidateGenerator::KeepChoices(const Candidate& base, std::vector<Parameter> parameters,
                                     const std::string& what) {
  std::vector<Parameter> chosen;
  std::int64_t combinations = 1;
  for (Parameter& parameter : parameters) {
    if (parameter.values.empty() && !parameter.required) continue;
    if (parameter.values.empty() && parameter.kind == PropertyKind::kBoolean) {
      parameter.values = {true, false};
    }
    const bool slot = parameter.kind == PropertyKind::kString ||
                      parameter.kind == PropertyKind::kInteger ||
                      parameter.kind == PropertyKind::kNumber;
    if (parameter.values.empty() && !slot) {
      return LeaveOut(what + " that need an object or a list");
    }
    combinations *= std::max<std::int64_t>(1, static_cast<std::int64_t>(parameter.values.size()));
    if (combinations > Catalog::kMaximumCombinations) {
      return LeaveOut(what + " with more than 64 combinations of arguments");
    }
    chosen.push_back(std::move(parameter));
  }
  KeepCombinations(base, chosen);
}

std::vector<CandidateGenerator::Parameter> CandidateGenerator::Parameters(
    const std::string& type, const std::string& name, const Json& description) const {
  std::vector<Parameter> parameters;
  if (const ActionDefinition* action = schema_.FindAction(type, name)) {
    for (const Property& property : action->parameters) {
      Parameter& parameter = Named(parameters, property.name);
      parameter.required = property.required;
      parameter.kind = property.kind;
      parameter.format = property.format;
      if (property.required) {
        parameter.values.assign(property.values.begin(), property.values.end());
      }
    }
  }
  AddActionInfo(description, parameters);
  for (const auto& [key, values] : description.items()) {
    if (!key.ends_with(kAllowableValues) || !values.is_array()) continue;
    Parameter& parameter = Named(parameters, key.substr(0, key.size() - kAllowableValues.size()));
    parameter.values.assign(values.begin(), values.end());
  }
  return parameters;
}

void CandidateGenerator::AddActionInfo(const Json& description,
                                       std::vector<Parameter>& parameters) const {
  const Json* info =
      outline_.FindActionInfo(CanonicalUri(TextAt(description, "@Redfish.ActionInfo")));
  const Json* described = info == nullptr ? nullptr : Resolve(*info, "/Parameters");
  if (described == nullptr || !described->is_array()) return;
  for (const Json& entry : *described) {
    const std::string name = TextAt(entry, "Name");
    if (name.empty()) continue;
    Parameter& parameter = Named(parameters, name);
    if (const auto required = entry.find("Required"); required != entry.end()) {
      parameter.required = required->is_boolean() && required->get<bool>();
    }
    if (parameter.kind == PropertyKind::kAny) {
      parameter.kind = KindOfDataType(TextAt(entry, "DataType"));
    }
    if (const auto values = entry.find("AllowableValues"); values != entry.end()) {
      if (values->is_array()) parameter.values.assign(values->begin(), values->end());
    }
  }
}

void CandidateGenerator::KeepCombinations(const Candidate& base,
                                          const std::vector<Parameter>& parameters) {
  std::vector<std::size_t> choice(parameters.size(), 0);
  for (bool more = true; more;) {
    Candidate candidate = base;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Parameter& parameter = parameters[i];
      if (!parameter.values.empty()) {
        candidate.body[parameter.name] = parameter.values[choice[i]];
        continue;
      }
      candidate.body[parameter.name] = SlotText(parameter.name);
      Slot slot;
      slot.name = parameter.name;
      slot.pointer = AppendPointer("", parameter.name);
      slot.kind = parameter.kind;
      slot.format = parameter.format;
      candidate.slots.push_back(std::move(slot));
    }
    Keep(std::move(candidate));
    more = false;
    for (std::size_t i = 0; i < parameters.size() && !more; ++i) {
      choice[i] = choice[i] + 1 < parameters[i].values.size() ? choice[i] + 1 : 0;
      more = choice[i] != 0;
    }
  }
}

}  // namespace shoal::redfish
