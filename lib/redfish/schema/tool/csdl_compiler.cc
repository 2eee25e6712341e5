// SPDX-License-Identifier: Apache-2.0
#include "redfish/schema/tool/csdl_compiler.h"

#include <map>
#include <pugixml.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "redfish/schema/schema_format.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

pugi::xml_node FindAnnotation(const pugi::xml_node& node, const char* term) {
  return node.find_child_by_attribute("Annotation", "Term", term);
}

bool HasPermission(const pugi::xml_node& node, std::string_view permission) {
  const std::string_view value =
      FindAnnotation(node, "OData.Permissions").attribute("EnumMember").as_string();
  return value.ends_with(permission);
}

bool IsWritable(const pugi::xml_node& node) {
  return HasPermission(node, "/ReadWrite") || HasPermission(node, "/Write");
}

// Credentials of a Session have permission None. Some other secrets say it only in their
// description.
bool IsWriteOnly(const pugi::xml_node& node) {
  const std::string_view description =
      FindAnnotation(node, "OData.LongDescription").attribute("String").as_string();
  return HasPermission(node, "/Write") || HasPermission(node, "/None") ||
         description.find("The value shall be `null` in responses") != description.npos;
}

void AddExcerpts(Json& out, const pugi::xml_node& node) {
  if (FindAnnotation(node, "Redfish.ExcerptCopyOnly")) out[format::kCopyOnly] = 1;
  if (const auto copy = FindAnnotation(node, "Redfish.ExcerptCopy")) {
    out[format::kExcerptCopy] = copy.attribute("String").as_string();
  }
  if (const auto excerpt = FindAnnotation(node, "Redfish.Excerpt")) {
    Json& keys = out[format::kExcerpt] = Json::array();
    std::istringstream list(excerpt.attribute("String").as_string());
    for (std::string key; std::getline(list, key, ',');) keys.push_back(key);
  }
}

void AddBound(Json& out, const char* key, const pugi::xml_node& annotation) {
  for (const char* attribute : {"Int", "Decimal", "Float"}) {
    if (const auto value = annotation.attribute(attribute)) out[key] = value.as_double();
  }
}

void AddMethods(Json& type, const pugi::xml_node& node) {
  const std::pair<const char*, const char*> kRestrictions[] = {
      {"Capabilities.InsertRestrictions", "i"},
      {"Capabilities.UpdateRestrictions", "u"},
      {"Capabilities.DeleteRestrictions", "d"}};
  for (const auto& [term, letter] : kRestrictions) {
    const pugi::xml_node value = FindAnnotation(node, term).child("Record").child("PropertyValue");
    if (!value.attribute("Bool").as_bool()) continue;
    type[format::kMethods] = type.value(format::kMethods, std::string()) + letter;
  }
}

// Returns {"k": kind, ...} for a type reference such as "Collection(Edm.String)".
Json DescribeType(std::string_view type, bool navigation) {
  constexpr std::string_view kCollection = "Collection(";
  Json out = Json::object();
  if (type.starts_with(kCollection)) {
    const std::string_view inner = type.substr(kCollection.size(), type.size() - 12);
    out[format::kKind] = "a";
    out[format::kElement] = DescribeType(inner, navigation);
    return out;
  }
  static const std::map<std::string_view, std::pair<const char*, const char*>> kPrimitives = {
      {"Edm.Boolean", {"b", ""}},   {"Edm.String", {"s", ""}}, {"Edm.DateTimeOffset", {"s", "t"}},
      {"Edm.Duration", {"s", "u"}}, {"Edm.Guid", {"s", "g"}},  {"Edm.Int64", {"i", ""}},
      {"Edm.Int32", {"i", ""}},     {"Edm.Int16", {"i", ""}},  {"Edm.Decimal", {"n", ""}},
      {"Edm.Double", {"n", ""}},    {"Edm.Single", {"n", ""}}};
  const auto primitive = kPrimitives.find(type);
  if (primitive != kPrimitives.end()) {
    out[format::kKind] = primitive->second.first;
    if (*primitive->second.second != 0) out[format::kFormat] = primitive->second.second;
  } else if (navigation) {
    out[format::kKind] = "l";
    out[format::kTarget] = format::ParseTypeName(type).key;
  } else if (type.starts_with("Edm.")) {
    out[format::kKind] = "x";
  } else {
    out[format::kType] = format::ParseTypeName(type).key;
  }
  return out;
}

Json DescribeProperty(const pugi::xml_node& node, const format::TypeName& owner) {
  const bool expanded = FindAnnotation(node, "OData.AutoExpand");
  const bool navigation = std::string_view(node.name()) == "NavigationProperty" && !expanded;
  Json out = DescribeType(node.attribute("Type").as_string(), navigation);
  Json& leaf = out.contains(format::kElement) ? out[format::kElement] : out;
  if (FindAnnotation(node, "Redfish.Required")) out[format::kRequired] = 1;
  if (FindAnnotation(node, "Redfish.RequiredOnCreate")) out[format::kRequiredOnCreate] = 1;
  if (IsWriteOnly(node)) out[format::kWriteOnly] = 1;
  AddExcerpts(out, node);
  if (IsWritable(node)) out[format::kWritable] = leaf[format::kWritable] = 1;
  if (!node.attribute("Nullable").as_bool(true)) out[format::kNotNull] = 1;
  if (owner.major > 1 || (owner.versioned && owner.minor > 0)) {
    out[format::kSince] = {owner.major, owner.minor};
  }
  AddBound(leaf, format::kMinimum, FindAnnotation(node, "Validation.Minimum"));
  AddBound(leaf, format::kMaximum, FindAnnotation(node, "Validation.Maximum"));
  if (const auto pattern = FindAnnotation(node, "Validation.Pattern")) {
    leaf[format::kPattern] = pattern.attribute("String").as_string();
  }
  return out;
}

void AddType(Json& types, const pugi::xml_node& node, const format::TypeName& name) {
  Json& type = types[name.key];
  if (type.is_null()) type = Json::object();
  const format::TypeName base = format::ParseTypeName(node.attribute("BaseType").as_string());
  if (!base.key.empty() && base.key != name.key) type[format::kBase] = base.key;
  AddMethods(type, node);
  for (const char* element : {"Property", "NavigationProperty"}) {
    for (const pugi::xml_node& property : node.children(element)) {
      Json& slot = type[format::kProperties][property.attribute("Name").as_string()];
      if (slot.is_null()) slot = DescribeProperty(property, name);
    }
  }
}

void AddValue(Json& values, const char* value) {
  for (const Json& known : values) {
    if (known == value) return;
  }
  values.push_back(value);
}

Json& ArrayAt(Json& object, const std::string& key) {
  Json& array = object[key];
  if (array.is_null()) array = Json::array();
  return array;
}

Json DescribeAction(const pugi::xml_node& node) {
  Json parameters = Json::array();
  bool bound = true;
  for (const pugi::xml_node& parameter : node.children("Parameter")) {
    if (bound) {
      bound = false;
      continue;
    }
    Json described = DescribeProperty(parameter, format::TypeName{});
    described[format::kName] = parameter.attribute("Name").as_string();
    if (described.erase(format::kNotNull) > 0) described[format::kRequired] = 1;
    parameters.push_back(std::move(described));
  }
  return parameters;
}

}  // namespace

absl::Status CsdlCompiler::Add(const std::string& file, std::string_view xml) {
  pugi::xml_document document;
  if (!document.load_buffer(xml.data(), xml.size())) {
    return runtime::InvalidArgument(file + " is no XML document");
  }
  const pugi::xml_node services = document.child("edmx:Edmx").child("edmx:DataServices");
  if (!services) return runtime::InvalidArgument(file + " is no CSDL document");
  for (const pugi::xml_node& schema : services.children("Schema")) {
    const std::string space = schema.attribute("Namespace").as_string();
    const auto qualify = [&](const pugi::xml_node& node) {
      return format::ParseTypeName(space + "." + node.attribute("Name").as_string());
    };
    for (const char* element : {"EntityType", "ComplexType"}) {
      for (const pugi::xml_node& node : schema.children(element)) {
        AddType(types_, node, qualify(node));
      }
    }
    for (const pugi::xml_node& node : schema.children("EnumType")) {
      Json& values = ArrayAt(enumerations_, qualify(node).key);
      for (const pugi::xml_node& member : node.children("Member")) {
        AddValue(values, member.attribute("Name").as_string());
      }
    }
    for (const pugi::xml_node& node : schema.children("TypeDefinition")) {
      const std::string key = qualify(node).key;
      Json described = DescribeType(node.attribute("UnderlyingType").as_string(), false);
      if (const auto pattern = FindAnnotation(node, "Validation.Pattern")) {
        described[format::kPattern] = pattern.attribute("String").as_string();
      }
      AddBound(described, format::kMinimum, FindAnnotation(node, "Validation.Minimum"));
      AddBound(described, format::kMaximum, FindAnnotation(node, "Validation.Maximum"));
      definitions_[key] = std::move(described);
      for (const pugi::xml_node& record :
           FindAnnotation(node, "Redfish.Enumeration").child("Collection").children("Record")) {
        const auto member = record.find_child_by_attribute("PropertyValue", "Property", "Member");
        if (member) AddValue(ArrayAt(enumerations_, key), member.attribute("String").as_string());
      }
    }
    for (const pugi::xml_node& node : schema.children("Action")) {
      actions_[format::ParseTypeName(space + ".").space + "." +
               node.attribute("Name").as_string()] = DescribeAction(node);
    }
  }
  return absl::OkStatus();
}

Json CsdlCompiler::Table() const {
  return {{format::kFormatKey, format::kFormatVersion},
          {format::kTypes, types_},
          {format::kEnumerations, enumerations_},
          {format::kDefinitions, definitions_},
          {format::kActions, actions_}};
}

}  // namespace shoal::redfish
