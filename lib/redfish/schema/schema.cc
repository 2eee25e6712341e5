// SPDX-License-Identifier: Apache-2.0
#include "redfish/schema/schema.h"

#include <algorithm>
#include <limits>
#include <map>
#include <regex>
#include <utility>

#include "platform/content/content_key.h"
#include "platform/runtime/mutex.h"
#include "platform/runtime/text_map.h"
#include "platform/runtime/zstd_frame.h"
#include "redfish/capture/archive.h"
#include "redfish/capture/uri.h"
#include "redfish/schema/schema_format.h"

namespace shoal::redfish {

namespace {

using Json = nlohmann::json;

struct Type {
  std::string space;
  // Null when the type has no base, or one that is not in the table.
  const Type* base = nullptr;
  AllowedMethods methods;
  // Sorted by name.
  std::vector<Property> properties;
  runtime::TextMap<std::size_t> index;
};

// The version at which a lookup is made.
struct Version {
  std::uint16_t major = std::numeric_limits<std::uint16_t>::max();
  std::uint16_t minor = std::numeric_limits<std::uint16_t>::max();

  bool Has(const Property& property) const {
    return std::pair(property.since_major, property.since_minor) <= std::pair(major, minor);
  }
};

Version VersionOf(const format::TypeName& name) {
  return name.versioned ? Version{name.major, name.minor} : Version{};
}

// Members of another namespace are looked up at its newest version.
Version VersionIn(std::string_view space, const format::TypeName& name) {
  return space == name.space ? VersionOf(name) : Version{};
}

PropertyKind KindOf(const std::string& letter) {
  switch (letter.empty() ? 'x' : letter[0]) {
    case 'b':
      return PropertyKind::kBoolean;
    case 's':
      return PropertyKind::kString;
    case 'i':
      return PropertyKind::kInteger;
    case 'n':
      return PropertyKind::kNumber;
    case 'a':
      return PropertyKind::kArray;
    case 'l':
      return PropertyKind::kLink;
    default:
      return PropertyKind::kAny;
  }
}

StringFormat FormatOf(const std::string& letter) {
  switch (letter.empty() ? 's' : letter[0]) {
    case 't':
      return StringFormat::kDateTime;
    case 'u':
      return StringFormat::kDuration;
    case 'g':
      return StringFormat::kGuid;
    default:
      return StringFormat::kPlain;
  }
}

void ReadExcerpts(const Json& from, Property& property) {
  property.copy_only = from.contains(format::kCopyOnly);
  if (const auto copy = from.find(format::kExcerptCopy); copy != from.end()) {
    property.excerpt_copy = copy->get<std::string>();
  }
  if (const auto keys = from.find(format::kExcerpt); keys != from.end()) {
    property.excerpt = true;
    property.excerpt_keys = keys->get<std::vector<std::string>>();
  }
}

bool IsShown(const Property& property, std::string_view key) {
  const auto& keys = property.excerpt_keys;
  if (!property.excerpt) return property.copy_only;
  return key.empty() || keys.empty() || std::find(keys.begin(), keys.end(), key) != keys.end();
}

absl::StatusOr<std::string> Unpack(const std::string& path, const std::string& packed) {
  constexpr unsigned long long kMaximum = 256u << 20;
  const auto size = runtime::StatedBytes(packed);
  if (!size || *size > kMaximum) return runtime::DataLoss("schema table " + path + " is corrupt");
  auto text = runtime::UnpackFrame(packed, *size);
  if (!text.ok()) return runtime::DataLoss("schema table " + path + " is corrupt");
  return text;
}

}  // namespace

struct Schema::Table {
  std::string digest;
  runtime::StableTextMap<Type> types;
  std::map<std::string, ActionDefinition, std::less<>> actions;

  Property Read(const std::string& name, const Json& from, const Json& root) const;
  const Type* FindType(std::string_view key) const {
    const auto found = types.find(key);
    return found == types.end() ? nullptr : &found->second;
  }
  const Property* Member(std::string_view key, std::string_view name,
                         const format::TypeName& at) const;
  const Property* Find(const format::TypeName& at, std::string_view pointer) const;
  void Collect(std::string_view key, const format::TypeName& at,
               std::vector<const Property*>& out) const;
};

Property Schema::Table::Read(const std::string& name, const Json& from, const Json& root) const {
  Property property;
  property.name = name;
  const Json* shape = &from;
  if (const auto type = from.find(format::kType); type != from.end()) {
    const std::string key = type->get<std::string>();
    const Json& definitions = root.at(format::kDefinitions);
    const Json& enumerations = root.at(format::kEnumerations);
    if (const auto values = enumerations.find(key); values != enumerations.end()) {
      property.kind = PropertyKind::kEnumeration;
      property.values = values->get<std::vector<std::string>>();
    } else if (const auto definition = definitions.find(key); definition != definitions.end()) {
      shape = &*definition;
      property.kind = KindOf(shape->value(format::kKind, std::string()));
    } else {
      property.kind =
          root.at(format::kTypes).contains(key) ? PropertyKind::kComplex : PropertyKind::kAny;
      property.type = key;
    }
  } else {
    property.kind = KindOf(from.value(format::kKind, std::string()));
  }
  property.format = FormatOf(shape->value(format::kFormat, std::string()));
  property.writable = from.contains(format::kWritable) && property.kind != PropertyKind::kComplex;
  property.nullable = !from.contains(format::kNotNull);
  property.required = from.contains(format::kRequired);
  property.required_on_create = from.contains(format::kRequiredOnCreate);
  property.write_only = from.contains(format::kWriteOnly);
  property.target = from.value(format::kTarget, std::string());
  ReadExcerpts(from, property);
  if (const auto since = from.find(format::kSince); since != from.end()) {
    property.since_major = since->at(0).get<std::uint16_t>();
    property.since_minor = since->at(1).get<std::uint16_t>();
  }
  for (const Json* part : {shape, &from}) {
    if (part->contains(format::kMinimum)) property.minimum = part->at(format::kMinimum);
    if (part->contains(format::kMaximum)) property.maximum = part->at(format::kMaximum);
    if (part->contains(format::kPattern)) property.pattern = part->at(format::kPattern);
  }
  if (const auto element = from.find(format::kElement); element != from.end()) {
    property.element = std::make_unique<Property>(Read(name, *element, root));
  }
  return property;
}

const Property* Schema::Table::Member(std::string_view key, std::string_view name,
                                      const format::TypeName& at) const {
  for (const Type* type = FindType(key); type != nullptr; type = type->base) {
    const auto found = type->index.find(name);
    if (found == type->index.end()) continue;
    const Property& property = type->properties[found->second];
    return VersionIn(type->space, at).Has(property) ? &property : nullptr;
  }
  return nullptr;
}

const Property* Schema::Table::Find(const format::TypeName& at, std::string_view pointer) const {
  std::string_view key = at.key;
  const Property* property = nullptr;
  PointerWalk walk(pointer);
  for (std::string_view token; walk.Next(token);) {
    if (property != nullptr && property->kind == PropertyKind::kArray) {
      const bool index = !token.empty() && token.find_first_not_of("0123456789") == token.npos;
      property = index ? property->element.get() : nullptr;
    } else {
      property = Member(key, token, at);
    }
    if (property == nullptr) return nullptr;
    key = property->type;
  }
  return property;
}

void Schema::Table::Collect(std::string_view key, const format::TypeName& at,
                            std::vector<const Property*>& out) const {
  for (const Type* type = FindType(key); type != nullptr; type = type->base) {
    const Version version = VersionIn(type->space, at);
    for (const Property& property : type->properties) {
      if (version.Has(property)) out.push_back(&property);
    }
  }
}

Schema::Schema(std::unique_ptr<const Table> table) : table_(std::move(table)) {}
Schema::~Schema() = default;

absl::StatusOr<std::shared_ptr<const Schema>> Schema::Load(const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const std::string packed, ReadWholeFile(path));
  SHOAL_ASSIGN_OR_RETURN(const std::string text, Unpack(path, packed));
  const Json root = Json::parse(text, nullptr, false);
  if (!root.is_object() || root.value(format::kFormatKey, 0) != format::kFormatVersion) {
    return runtime::DataLoss("schema table " + path + " has another format than " +
                             std::to_string(format::kFormatVersion));
  }
  auto table = std::make_unique<Table>();
  table->digest = content::Sha256Hex(packed);
  try {
    for (const auto& [key, from] : root.at(format::kTypes).items()) {
      Type& type = table->types[key];
      type.space = key.substr(0, key.find('.'));
      if (const std::string base = from.value(format::kBase, std::string()); !base.empty()) {
        const auto types = root.at(format::kTypes).find(base);
        if (types != root.at(format::kTypes).end()) type.base = &table->types[base];
      }
      const std::string methods = from.value(format::kMethods, std::string());
      type.methods.insert = methods.find('i') != std::string::npos;
      type.methods.update = methods.find('u') != std::string::npos;
      type.methods.remove = methods.find('d') != std::string::npos;
      if (!from.contains(format::kProperties)) continue;
      for (const auto& [name, property] : from.at(format::kProperties).items()) {
        type.index.emplace(name, type.properties.size());
        type.properties.push_back(table->Read(name, property, root));
      }
    }
    for (const auto& [name, parameters] : root.at(format::kActions).items()) {
      ActionDefinition& action = table->actions[name];
      action.name = name;
      for (const Json& parameter : parameters) {
        action.parameters.push_back(
            table->Read(parameter.at(format::kName).get<std::string>(), parameter, root));
      }
    }
  } catch (const Json::exception& error) {
    return runtime::DataLoss("schema table " + path + ": " + error.what());
  }
  return std::shared_ptr<const Schema>(new Schema(std::move(table)));
}

bool Schema::Knows(std::string_view odata_type) const {
  return table_->FindType(format::ParseTypeName(odata_type).key) != nullptr;
}

const Property* Schema::Find(std::string_view odata_type, std::string_view pointer) const {
  return table_->Find(format::ParseTypeName(odata_type), pointer);
}

bool Schema::IsWritable(std::string_view odata_type, std::string_view pointer) const {
  const format::TypeName at = format::ParseTypeName(odata_type);
  const Type* const type = table_->FindType(at.key);
  if (type == nullptr || !type->methods.update) return false;
  const Property* const property = table_->Find(at, pointer);
  return property != nullptr && property->writable;
}

std::vector<const Property*> Schema::Properties(std::string_view odata_type) const {
  const format::TypeName at = format::ParseTypeName(odata_type);
  std::vector<const Property*> properties;
  table_->Collect(at.key, at, properties);
  return properties;
}

std::vector<const Property*> Schema::Members(std::string_view odata_type,
                                             const Property& complex) const {
  std::vector<const Property*> properties;
  table_->Collect(complex.type, format::ParseTypeName(odata_type), properties);
  return properties;
}

std::vector<const Property*> Schema::ExcerptProperties(std::string_view odata_type,
                                                       std::string_view key) const {
  std::vector<const Property*> properties = Properties(odata_type);
  std::erase_if(properties, [&](const Property* property) { return !IsShown(*property, key); });
  return properties;
}

std::string_view Schema::MemberType(std::string_view odata_type) const {
  const Property* const members = Find(odata_type, "/Members/0");
  if (members == nullptr) return {};
  return members->kind == PropertyKind::kLink ? members->target : members->type;
}

AllowedMethods Schema::Methods(std::string_view odata_type) const {
  const Type* type = table_->FindType(format::ParseTypeName(odata_type).key);
  return type == nullptr ? AllowedMethods{} : type->methods;
}

const ActionDefinition* Schema::FindAction(std::string_view odata_type,
                                           std::string_view action) const {
  const std::string space = format::ParseTypeName(odata_type).space + ".";
  if (!action.starts_with(space)) return nullptr;
  const auto found = table_->actions.find(action);
  return found == table_->actions.end() ? nullptr : &found->second;
}

const std::string& Schema::digest() const { return table_->digest; }

std::size_t Schema::size() const { return table_->types.size(); }

namespace {

constexpr std::string_view kTypeError = "PropertyValueTypeError";
constexpr std::string_view kNotInList = "PropertyValueNotInList";
constexpr std::string_view kOutOfRange = "PropertyValueOutOfRange";
constexpr std::string_view kFormatError = "PropertyValueFormatError";

// Longer texts are not matched: std::regex recurses once for each character.
constexpr std::size_t kMaximumMatched = 1024;

std::string_view NumberMisfit(const Property& property, const Json& value) {
  const double number = value.get<double>();
  const bool low = property.minimum && number < *property.minimum;
  const bool high = property.maximum && number > *property.maximum;
  return low || high ? kOutOfRange : std::string_view();
}

// Returns a pattern that matches everything when the library cannot read `pattern`.
std::regex Compile(const std::string& pattern) {
  try {
    return std::regex(pattern, std::regex::ECMAScript);
  } catch (const std::regex_error&) {
    return std::regex("");
  }
}

// Caches compiled patterns: compiling costs a hundred times what matching does. The patterns are
// the schema's, so they are few.
const std::regex& Compiled(const std::string& pattern) {
  static runtime::Mutex mutex;
  static std::map<std::string, std::regex> compiled;
  const runtime::MutexLock lock(mutex);
  const auto found = compiled.find(pattern);
  return found != compiled.end() ? found->second
                                 : compiled.emplace(pattern, Compile(pattern)).first->second;
}

bool Matches(const std::string& text, const std::string& pattern) {
  if (pattern.empty()) return true;
  return text.size() <= kMaximumMatched && std::regex_search(text, Compiled(pattern));
}

bool HasFormat(const std::string& text, StringFormat format) {
  static const std::regex kDateTime(
      R"(^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$)");
  static const std::regex kDuration(R"(^-?P(\d+D)?(T(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$)");
  static const std::regex kGuid(R"(^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$)");
  if (format == StringFormat::kPlain) return true;
  if (text.size() > kMaximumMatched) return false;
  const std::regex& wanted = format == StringFormat::kDateTime   ? kDateTime
                             : format == StringFormat::kDuration ? kDuration
                                                                 : kGuid;
  return std::regex_match(text, wanted);
}

std::string_view StringMisfit(const Property& property, const Json& value) {
  if (!value.is_string()) return kTypeError;
  const std::string& text = value.get_ref<const std::string&>();
  if (property.kind == PropertyKind::kEnumeration) {
    const auto& values = property.values;
    return std::find(values.begin(), values.end(), text) == values.end() ? kNotInList
                                                                         : std::string_view();
  }
  const bool fits = HasFormat(text, property.format) && Matches(text, property.pattern);
  return fits ? std::string_view() : kFormatError;
}

}  // namespace

std::string_view Name(PropertyKind kind) {
  switch (kind) {
    case PropertyKind::kBoolean:
      return "boolean";
    case PropertyKind::kString:
      return "string";
    case PropertyKind::kInteger:
      return "integer";
    case PropertyKind::kNumber:
      return "number";
    case PropertyKind::kEnumeration:
      return "enumeration";
    case PropertyKind::kComplex:
      return "complex";
    case PropertyKind::kArray:
      return "array";
    case PropertyKind::kLink:
      return "link";
    case PropertyKind::kAny:
      return "any";
  }
  return "any";
}

std::string_view Misfit(const Property& property, const Json& value) {
  if (value.is_null()) return property.nullable ? std::string_view() : kTypeError;
  switch (property.kind) {
    case PropertyKind::kBoolean:
      return value.is_boolean() ? std::string_view() : kTypeError;
    case PropertyKind::kInteger:
      return value.is_number_integer() ? NumberMisfit(property, value) : kTypeError;
    case PropertyKind::kNumber:
      return value.is_number() ? NumberMisfit(property, value) : kTypeError;
    case PropertyKind::kString:
    case PropertyKind::kEnumeration:
      return StringMisfit(property, value);
    case PropertyKind::kComplex:
    case PropertyKind::kLink:
      return value.is_object() ? std::string_view() : kTypeError;
    case PropertyKind::kArray: {
      if (!value.is_array()) return kTypeError;
      for (const Json& element : value) {
        // An empty object keeps an element as it is.
        if (element.is_object() && element.empty()) continue;
        if (element.is_null() || property.element == nullptr) continue;
        const std::string_view misfit = Misfit(*property.element, element);
        if (!misfit.empty()) return misfit;
      }
      return {};
    }
    case PropertyKind::kAny:
      return {};
  }
  return {};
}

}  // namespace shoal::redfish
