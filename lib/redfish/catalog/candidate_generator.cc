// SPDX-License-Identifier: Apache-2.0
#include "redfish/catalog/candidate_generator.h"

#include <algorithm>
#include <array>
#include <utility>

#include "redfish/capture/uri.h"
#include "redfish/catalog/catalog.h"
#include "redfish/schema/allowable_values.h"
#include "redfish/schema/schema_format.h"

namespace shoal::redfish {

namespace {

using Json = nlohmann::json;

// Returns the values that `object` allows for `name`, or null when it lists none.
Json AllowedFor(const Json& object, const std::string& name) {
  const Json* const listed = AllowableValues(object, name);
  return listed == nullptr ? Json() : *listed;
}

Slot SlotFor(const std::string& pointer, const Property& property) {
  Slot slot;
  slot.name = property.name;
  slot.pointer = pointer;
  slot.kind = property.kind;
  slot.format = property.format;
  slot.minimum = property.minimum;
  slot.maximum = property.maximum;
  return slot;
}

Json BodyWith(const std::string& pointer, Json value) {
  Json body = Json::object();
  Assign(body, pointer, std::move(value));
  return body;
}

bool IsText(PropertyKind kind) {
  return kind == PropertyKind::kString || kind == PropertyKind::kInteger ||
         kind == PropertyKind::kNumber;
}

}  // namespace

bool IsOperationalType(std::string_view odata_type) {
  static const std::array<std::string_view, 8> kDocuments = {
      "JsonSchemaFile",      "JsonSchemaFileCollection",
      "MessageRegistryFile", "MessageRegistryFileCollection",
      "MessageRegistry",     "AttributeRegistry",
      "PrivilegeRegistry",   "LogEntry"};
  const std::string space = format::ParseTypeName(odata_type).space;
  return !space.empty() &&
         std::find(kDocuments.begin(), kDocuments.end(), space) == kDocuments.end();
}

bool IsOperational(const Json& resource) {
  return IsOperationalType(TextAt(resource, "@odata.type")) &&
         !TextAt(resource, "@odata.id").empty();
}

std::vector<Json> CandidateGenerator::ValuesOf(const Property& property,
                                               const Json& allowable) const {
  std::vector<Json> values;
  if (allowable.is_array()) {
    values.assign(allowable.begin(), allowable.end());
  } else if (property.kind == PropertyKind::kBoolean) {
    values = {true, false};
  } else if (property.kind == PropertyKind::kEnumeration) {
    values.assign(property.values.begin(), property.values.end());
  } else if (property.kind == PropertyKind::kString && property.name == "RoleId") {
    values.assign(outline_.role_ids().begin(), outline_.role_ids().end());
  }
  return values;
}

Candidate CandidateGenerator::Start(const char* method, const std::string& uri,
                                    const Json& resource) const {
  Candidate candidate;
  candidate.method = method;
  candidate.uri = uri;
  candidate.told_uri = UriWithoutNames(uri, names_);
  candidate.resource = CanonicalUri(TextAt(resource, "@odata.id"));
  candidate.type = TextAt(resource, "@odata.type");
  candidate.name = TextAt(resource, "Name");
  return candidate;
}

void CandidateGenerator::Keep(Candidate candidate) {
  candidate.Seal();
  if (!seen_.insert(candidate.key).second) return LeaveOut("listed twice");
  if (candidate.method == "PATCH") ++patches_;
  candidates.push_back(std::move(candidate));
}

void CandidateGenerator::AddWait() {
  Candidate wait;
  wait.method = kWaitMethod;
  wait.name = "wait";
  Keep(std::move(wait));
}

void CandidateGenerator::Add(const std::string& uri, const Json& resource) {
  if (!IsOperational(resource)) return LeaveOut("schemas, registries, log entries");
  Keep(Start("GET", uri, resource));
  patches_ = 0;
  const std::string type = TextAt(resource, "@odata.type");
  const AllowedMethods methods = schema_.Methods(type);
  const bool fixed = outline_.IsFixed(uri, type);
  if (methods.update) {
    const Place whole{uri, resource, type, resource, ""};
    AddPatches(whole);
    AddFillings(whole);
    AddComposedPatch(whole);
  } else if (!schema_.Knows(type)) {
    LeaveOut("resources of types that the standard does not know");
  }
  AddExpansion(uri, resource, methods.insert && !fixed);
  if (methods.insert && !fixed) {
    AddCreations(uri, resource);
    AddComposedCreation(uri, resource);
  }
  if (methods.remove && !fixed) Keep(Start("DELETE", uri, resource));
  const auto actions = resource.find("Actions");
  if (actions != resource.end() && actions->is_object()) AddActions(uri, resource, *actions);
}

void CandidateGenerator::AddExpansion(const std::string& uri, const Json& collection,
                                      bool inserts) {
  if (!outline_.expands() || !IsOperationalType(outline_.MemberType(uri))) return;
  const std::size_t members = MemberUris(collection).size();
  if (members > Catalog::kMaximumExpanded) return LeaveOut("large collections to expand");
  if (members < 2 && !inserts) return;
  Keep(Start("GET", uri + std::string(kExpandQuery), collection));
}

void CandidateGenerator::KeepPatch(const Place& place, Json body, std::vector<Slot> slots) {
  Candidate candidate = Start("PATCH", place.uri, place.resource);
  candidate.body = std::move(body);
  candidate.slots = std::move(slots);
  Keep(std::move(candidate));
}

void CandidateGenerator::AddPatches(const Place& place) {
  for (const auto& [name, value] : place.object.items()) {
    if (name.find('@') != std::string::npos || name == "Actions" || name == "Links") continue;
    const std::string pointer = AppendPointer(place.pointer, name);
    const Property* property = schema_.Find(place.type, pointer);
    if (property == nullptr) {
      // Attributes of registries are parts of a request that composes.
      if (!place.pointer.ends_with("/Attributes")) {
        LeaveOut("properties that the standard's version does not know");
      }
    } else if (property->kind == PropertyKind::kComplex) {
      if (value.is_object()) {
        AddPatches({place.uri, place.resource, place.type, value, pointer});
      }
    } else if (property->writable) {
      AddLeaf(place, pointer, *property, AllowedFor(place.object, name));
    }
  }
  AddBootOverrides(place);
  AddProtocol(place);
}

void CandidateGenerator::AddLeaf(const Place& place, const std::string& pointer,
                                 const Property& property, const Json& allowable) {
  const std::vector<Json> values = ValuesOf(property, allowable);
  if (property.kind == PropertyKind::kArray) {
    const bool texts =
        property.element->kind == PropertyKind::kString && property.element->writable;
    if (!texts || !values.empty()) return LeaveOut("arrays other than of texts");
    const std::string first = pointer + "/0";
    KeepPatch(place, BodyWith(pointer, Json::array({SlotText(property.name)})),
              {SlotFor(first, *property.element)});
  } else if (!values.empty()) {
    for (const Json& value : values) KeepPatch(place, BodyWith(pointer, value), {});
  } else if (IsText(property.kind)) {
    KeepPatch(place, BodyWith(pointer, SlotText(property.name)), {SlotFor(pointer, property)});
  } else {
    LeaveOut("links and free-form properties");
  }
}

void CandidateGenerator::AddBootOverrides(const Place& place) {
  constexpr const char* kTarget = "BootSourceOverrideTarget";
  constexpr const char* kEnabled = "BootSourceOverrideEnabled";
  if (!place.object.contains(kTarget) || !place.object.contains(kEnabled)) return;
  const std::string target_pointer = AppendPointer(place.pointer, kTarget);
  const std::string enabled_pointer = AppendPointer(place.pointer, kEnabled);
  const Property* target = schema_.Find(place.type, target_pointer);
  const Property* enabled = schema_.Find(place.type, enabled_pointer);
  if (target == nullptr || enabled == nullptr || !target->writable || !enabled->writable) return;
  for (const Json& how : ValuesOf(*enabled, AllowedFor(place.object, kEnabled))) {
    for (const Json& where : ValuesOf(*target, AllowedFor(place.object, kTarget))) {
      // An override is off exactly when it has no target.
      if ((how == "Disabled") != (where == "None")) continue;
      Json body = BodyWith(target_pointer, where);
      Assign(body, enabled_pointer, how);
      KeepPatch(place, std::move(body), {});
    }
  }
}

void CandidateGenerator::AddProtocol(const Place& place) {
  constexpr const char* kSwitch = "ProtocolEnabled";
  if (!place.object.contains(kSwitch)) return;
  const std::string switch_pointer = AppendPointer(place.pointer, kSwitch);
  const Property* enabled = schema_.Find(place.type, switch_pointer);
  if (enabled == nullptr || !enabled->writable) return;
  for (const auto& [name, value] : place.object.items()) {
    if (name == kSwitch || name.find('@') != std::string::npos) continue;
    const std::string pointer = AppendPointer(place.pointer, name);
    const Property* property = schema_.Find(place.type, pointer);
    if (property == nullptr || !property->writable) continue;
    const bool list = property->kind == PropertyKind::kArray;
    const Property& leaf = list ? *property->element : *property;
    if (!IsText(leaf.kind)) continue;
    const Json text = SlotText(property->name);
    Json body = BodyWith(switch_pointer, true);
    Assign(body, pointer, list ? Json::array({text}) : text);
    KeepPatch(place, std::move(body), {SlotFor(list ? pointer + "/0" : pointer, leaf)});
  }
}

namespace {

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
  const std::vector<Parameter> parameters = Parameters(type, name, description);
  KeepChoices(base, parameters, "actions");
  AddComposedAction(base, parameters);
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

namespace {

// The switch of a resource, which its creator wants on.
constexpr const char* kEnabled = "Enabled";

}  // namespace

std::vector<CandidateGenerator::Parameter> CandidateGenerator::CreationParameters(
    const std::string& type, bool writable) const {
  std::vector<Parameter> parameters;
  for (const Property* property : schema_.Properties(type)) {
    if (!property->required_on_create) continue;
    if (writable && !property->writable) return {};
    Parameter& parameter = parameters.emplace_back();
    parameter.name = property->name;
    parameter.required = true;
    parameter.kind = property->kind;
    parameter.format = property->format;
    parameter.values = ValuesOf(*property, Json());
  }
  return parameters;
}

void CandidateGenerator::AddCreations(const std::string& uri, const Json& collection) {
  std::vector<Parameter> parameters = CreationParameters(outline_.MemberType(uri), false);
  if (parameters.empty()) return LeaveOut("new members of which the standard requires nothing");
  Candidate base = Start("POST", uri, collection);
  base.body = Json::object();
  KeepChoices(base, std::move(parameters), "new members");
}

// A resource that POST made, or a slot that stands for one, gets all the required properties at
// once.
void CandidateGenerator::AddFillings(const Place& place) {
  std::vector<Parameter> parameters = CreationParameters(place.type, true);
  if (parameters.empty()) return;
  Candidate base = Start("PATCH", place.uri, place.resource);
  base.body = Json::object();
  const Property* const enabled = schema_.Find(place.type, AppendPointer("", kEnabled));
  const bool has_switch = enabled != nullptr && enabled->writable &&
                          enabled->kind == PropertyKind::kBoolean &&
                          place.resource.contains(kEnabled);
  if (has_switch) base.body[kEnabled] = true;
  KeepChoices(base, std::move(parameters), "members made anew");
}

namespace {

constexpr std::size_t kMaximumParts = std::size_t{1} << 14;
// Links of new members are the only complex properties that are followed, with their own members.
constexpr const char* kLinks = "Links";

Candidate PartOf(const Candidate& base, const std::string& pointer, Json value) {
  Candidate part = base;
  part.body = BodyWith(pointer, std::move(value));
  return part;
}

Candidate SlotPart(const Candidate& base, const std::string& pointer, const Property& property) {
  Candidate part = PartOf(base, pointer, SlotText(property.name));
  part.slots.push_back(SlotFor(pointer, property));
  return part;
}
// Returns the values of an attribute: those of its registry, or without one what its present value
// suggests. An empty list stands for a slot.
std::vector<Json> AttributeValues(const Property* property, const Json& present) {
  if (property != nullptr && property->kind == PropertyKind::kEnumeration) {
    return {property->values.begin(), property->values.end()};
  }
  const bool is_switch =
      property == nullptr ? present.is_boolean() : property->kind == PropertyKind::kBoolean;
  if (is_switch) return {true, false};
  const bool is_enabled = present == "Enabled" || present == "Disabled";
  return property == nullptr && is_enabled ? std::vector<Json>{"Enabled", "Disabled"}
                                           : std::vector<Json>{};
}

}  // namespace

void CandidateGenerator::KeepComposed(Candidate candidate, std::vector<Candidate> parts) {
  if (parts.size() > kMaximumParts) {
    LeaveOut("parts beyond the limit", static_cast<std::int64_t>(parts.size() - kMaximumParts));
    parts.resize(kMaximumParts);
  }
  for (Candidate& part : parts) part.Seal();
  candidate.body = nullptr;
  candidate.slots.clear();
  candidate.parts = std::make_shared<const std::vector<Candidate>>(std::move(parts));
  Keep(std::move(candidate));
}

void CandidateGenerator::AddComposedPatch(const Place& place) {
  const Candidate base = Start("PATCH", place.uri, place.resource);
  std::vector<Candidate> parts;
  if (const auto* const attributes = outline_.FindAttributes(place.uri)) {
    for (const auto& [name, present] : attributes->values.items()) {
      const Property* const property =
          attributes->registry == nullptr ? nullptr : attributes->registry->FindWritable(name);
      if (attributes->registry != nullptr && property == nullptr) continue;
      const std::string pointer = AppendPointer("/Attributes", name);
      const std::vector<Json> values = AttributeValues(property, present);
      Candidate named = base;
      const std::string shown =
          attributes->registry == nullptr ? "" : attributes->registry->DisplayName(name);
      if (!shown.empty()) named.name = shown;
      for (const Json& value : values) parts.push_back(PartOf(named, pointer, value));
      if (!values.empty()) continue;
      Property text;
      text.name = name;
      text.kind = present.is_number_integer() ? PropertyKind::kInteger : PropertyKind::kString;
      parts.push_back(SlotPart(named, pointer, property == nullptr ? text : *property));
    }
  }
  if (patches_ > 1 || !parts.empty()) KeepComposed(base, std::move(parts));
}

void CandidateGenerator::AddPropertyParts(const Candidate& base, const std::string& type,
                                          const Property& property, const std::string& pointer,
                                          std::vector<Candidate>& parts) const {
  const std::string place = AppendPointer(pointer, property.name);
  if (property.kind == PropertyKind::kComplex && property.name == kLinks) {
    for (const Property* const member : schema_.Members(type, property)) {
      AddPropertyParts(base, type, *member, place, parts);
    }
    return;
  }
  const bool is_list = property.kind == PropertyKind::kArray;
  if (is_list && property.element->kind == PropertyKind::kLink) {
    return AddReferenceParts(base, property.element->target, place, parts);
  }
  const bool settable = property.writable || property.required_on_create ||
                        property.kind == PropertyKind::kEnumeration;
  if (!settable || pointer.ends_with(kLinks)) return;
  const Property& leaf = is_list ? *property.element : property;
  const std::vector<Json> values = ValuesOf(leaf, Json());
  for (const Json& value : values) {
    parts.push_back(PartOf(base, place, is_list ? Json::array({value}) : value));
  }
  if (values.empty() && IsText(leaf.kind) && !is_list) parts.push_back(SlotPart(base, place, leaf));
}

void CandidateGenerator::AddReferenceParts(const Candidate& base, const std::string& target,
                                           const std::string& pointer,
                                           std::vector<Candidate>& parts) const {
  const auto references = outline_.References(base.uri, target);
  for (std::size_t i = 0; i < references.size(); ++i) {
    Candidate part = PartOf(base, pointer, Json::array({Json{{"@odata.id", references[i].uri}}}));
    part.name = std::string(Ordinal(i)) + " " + references[i].name;
    parts.push_back(std::move(part));
  }
}

void CandidateGenerator::AddComposedCreation(const std::string& uri, const Json& collection) {
  const std::string type = outline_.MemberType(uri);
  const Candidate base = Start("POST", uri, collection);
  std::vector<Candidate> parts;
  for (const Property* const property : schema_.Properties(type)) {
    AddPropertyParts(base, type, *property, "", parts);
  }
  if (!parts.empty()) KeepComposed(base, std::move(parts));
}

void CandidateGenerator::AddComposedAction(const Candidate& base,
                                           const std::vector<Parameter>& parameters) {
  std::vector<Candidate> parts;
  bool has_more = false;
  std::size_t combinations = 1;
  for (const Parameter& parameter : parameters) {
    const std::string pointer = AppendPointer("", parameter.name);
    std::vector<Json> values = parameter.values;
    if (values.empty() && parameter.kind == PropertyKind::kBoolean) values = {true, false};
    has_more = has_more || (!parameter.required && parameter.values.empty());
    combinations *= std::max<std::size_t>(1, values.size());
    has_more = has_more || combinations > Catalog::kMaximumCombinations;
    for (const Json& value : values) parts.push_back(PartOf(base, pointer, value));
    if (!values.empty() || !IsText(parameter.kind)) continue;
    Property property;
    property.name = parameter.name;
    property.kind = parameter.kind;
    property.format = parameter.format;
    parts.push_back(SlotPart(base, pointer, property));
  }
  if (has_more && !parts.empty()) KeepComposed(base, std::move(parts));
}

}  // namespace shoal::redfish
