// SPDX-License-Identifier: Apache-2.0
#include "redfish/schema/attribute_registry.h"

#include <algorithm>
#include <utility>

#include "redfish/capture/uri.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

bool IsTrue(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::optional<double> NumberAt(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

const Json* ArrayAt(const Json& object, const char* pointer) {
  const Json* const found = Resolve(object, pointer);
  return found != nullptr && found->is_array() ? found : nullptr;
}

// Returns an empty pattern when there is no usable maximum length.
std::string LengthPattern(const Json& entry) {
  const auto least = NumberAt(entry, "MinLength");
  const auto most = NumberAt(entry, "MaxLength");
  constexpr double kMost = 1024;
  if (!most || *most > kMost || *most < 0) return "";
  const auto low = static_cast<int>(std::min(least.value_or(0), *most));
  return "^[^]{" + std::to_string(std::max(low, 0)) + "," +
         std::to_string(static_cast<int>(*most)) + "}$";
}

bool IsOrdered(const Json& a, const Json& b) { return a.is_number() && b.is_number(); }

}  // namespace

std::optional<AttributeRegistry> AttributeRegistry::Parse(const Json& json) {
  if (!TextAt(json, "@odata.type").starts_with("#AttributeRegistry.")) return std::nullopt;
  const Json* const attributes = ArrayAt(json, "/RegistryEntries/Attributes");
  if (attributes == nullptr) return std::nullopt;
  AttributeRegistry registry;
  registry.id_ = TextAt(json, "Id");
  for (const Json& entry : *attributes) registry.AddAttribute(entry);
  if (const Json* const dependencies = ArrayAt(json, "/RegistryEntries/Dependencies")) {
    for (const Json& entry : *dependencies) registry.AddDependency(entry);
  }
  return registry;
}

void AttributeRegistry::AddAttribute(const Json& entry) {
  const std::string name = TextAt(entry, "AttributeName");
  const std::string type = TextAt(entry, "Type");
  if (name.empty()) return;
  Attribute attribute;
  attribute.read_only = IsTrue(entry, "ReadOnly");
  attribute.immutable = IsTrue(entry, "Immutable");
  attribute.default_value = entry.value("DefaultValue", Json());
  attribute.display_name = TextAt(entry, "DisplayName");
  Property& property = attribute.property;
  property.name = name;
  property.nullable = false;
  if (type == "Enumeration") {
    property.kind = PropertyKind::kEnumeration;
    if (const Json* const values = ArrayAt(entry, "/Value")) {
      for (const Json& value : *values) property.values.push_back(TextAt(value, "ValueName"));
    }
  } else if (type == "Integer") {
    property.kind = PropertyKind::kInteger;
    property.minimum = NumberAt(entry, "LowerBound");
    property.maximum = NumberAt(entry, "UpperBound");
  } else if (type == "Boolean") {
    property.kind = PropertyKind::kBoolean;
  } else {
    property.kind = PropertyKind::kString;
    property.pattern = LengthPattern(entry);
    if (type == "Password") passwords_.insert(name);
  }
  attributes_.emplace(name, std::move(attribute));
}

const Property* AttributeRegistry::Find(const std::string& attribute) const {
  const auto found = attributes_.find(attribute);
  return found == attributes_.end() ? nullptr : &found->second.property;
}

std::string AttributeRegistry::DisplayName(const std::string& attribute) const {
  const auto found = attributes_.find(attribute);
  return found == attributes_.end() ? "" : found->second.display_name;
}

void AttributeRegistry::AddDependency(const Json& entry) {
  const auto found = entry.find("Dependency");
  if (!entry.is_object() || found == entry.end() || !found->is_object()) return;
  const std::string to = TextAt(*found, "MapToProperty");
  const Json* const from = ArrayAt(*found, "/MapFrom");
  if ((to != "ReadOnly" && to != "GrayOut") || from == nullptr) return;
  Dependency dependency{.conditions = {}, .read_only = IsTrue(*found, "MapToValue")};
  for (const Json& condition : *from) {
    if (TextAt(condition, "MapFromProperty") != "CurrentValue") return;
    dependency.conditions.push_back({.attribute = TextAt(condition, "MapFromAttribute"),
                                     .comparison = TextAt(condition, "MapFromCondition"),
                                     .value = condition.value("MapFromValue", Json()),
                                     .alternative = TextAt(condition, "MapTerms") == "OR"});
  }
  if (!dependency.conditions.empty()) {
    dependencies_[TextAt(*found, "MapToAttribute")].push_back(std::move(dependency));
  }
}

bool AttributeRegistry::Holds(const Condition& condition, const Json& current) {
  const auto found = current.find(condition.attribute);
  if (found == current.end()) return false;
  const Json& value = *found;
  if (condition.comparison == "EQU") return value == condition.value;
  if (condition.comparison == "NEQ") return value != condition.value;
  if (!IsOrdered(value, condition.value)) return false;
  if (condition.comparison == "GTR") return value > condition.value;
  if (condition.comparison == "GEQ") return value >= condition.value;
  if (condition.comparison == "LSS") return value < condition.value;
  return condition.comparison == "LEQ" && value <= condition.value;
}

bool AttributeRegistry::Holds(const Dependency& dependency, const Json& current) {
  bool holds = Holds(dependency.conditions.front(), current);
  for (std::size_t i = 1; i < dependency.conditions.size(); ++i) {
    const Condition& condition = dependency.conditions[i];
    const bool next = Holds(condition, current);
    holds = condition.alternative ? holds || next : holds && next;
  }
  return holds;
}

std::string_view AttributeRegistry::Misfit(const std::string& attribute, const Json& value,
                                           const Json& current) const {
  const auto known = attributes_.find(attribute);
  if (known == attributes_.end()) return "PropertyUnknown";
  bool read_only = known->second.read_only;
  if (const auto found = dependencies_.find(attribute); found != dependencies_.end()) {
    // Where dependencies exist, the attribute's own ReadOnly only tells its state when the registry
    // was read.
    read_only = false;
    for (const Dependency& dependency : found->second) {
      if (Holds(dependency, current)) read_only = dependency.read_only;
    }
  }
  if (read_only || known->second.immutable) return "PropertyNotWritable";
  return redfish::Misfit(known->second.property, value);
}

std::set<std::string> AttributeRegistry::LocksOf(const std::string& attribute,
                                                 const Json& current) const {
  std::set<std::string> locks;
  const auto found = dependencies_.find(attribute);
  if (found == dependencies_.end()) return locks;
  for (const Dependency& dependency : found->second) {
    for (const Condition& condition : dependency.conditions) {
      const bool counts = dependency.read_only && Holds(condition, current);
      if (counts) locks.insert(condition.attribute);
    }
  }
  return locks;
}

std::vector<std::string> AttributeRegistry::Lockable() const {
  std::vector<std::string> names;
  for (const auto& [name, dependencies] : dependencies_) {
    const bool is_locked =
        std::any_of(dependencies.begin(), dependencies.end(),
                    [](const Dependency& dependency) { return dependency.read_only; });
    if (is_locked && attributes_.contains(name)) names.push_back(name);
  }
  return names;
}

const Property* AttributeRegistry::FindWritable(const std::string& attribute) const {
  const auto found = attributes_.find(attribute);
  if (found == attributes_.end() || passwords_.contains(attribute)) return nullptr;
  return found->second.immutable || found->second.read_only ? nullptr : &found->second.property;
}

const Json* AttributeRegistry::Default(const std::string& attribute) const {
  const auto known = attributes_.find(attribute);
  if (known == attributes_.end() || known->second.read_only || known->second.immutable) {
    return nullptr;
  }
  const Json& value = known->second.default_value;
  return redfish::Misfit(known->second.property, value).empty() ? &value : nullptr;
}

std::optional<AttributeRegistry> FindAttributeRegistry(const Capture& capture,
                                                       std::string_view id) {
  for (const auto& [uri, json] : capture.resources()) {
    if (id.empty() || TextAt(json, "Id") != id) continue;
    if (auto registry = AttributeRegistry::Parse(json)) return registry;
  }
  return std::nullopt;
}

Json DefaultAttributes(const Json& attributes, const AttributeRegistry* registry) {
  Json defaults = attributes;
  if (registry == nullptr) return defaults;
  for (auto& [name, value] : defaults.items()) {
    const Json* const known = registry->Default(name);
    if (known != nullptr) value = *known;
  }
  return defaults;
}

}  // namespace shoal::redfish
