// SPDX-License-Identifier: Apache-2.0
// The standard's definition of resource types: properties, what is writable, methods, actions.
//
// The schema is a compact table compiled from DMTF's CSDL (data/schema/README.md). Types are named
// as in bodies, "#ComputerSystem.v1_13_0.ComputerSystem"; the '#' may be missing. A property counts
// when the named version has it. A version that the table does not know stands for the newest one
// below it; a name without a version ("ChassisCollection.ChassisCollection") stands for the newest
// of all. OEM types are unknown: nothing is found in them. Immutable, safe for any number of
// threads; pointers live as long as the Schema.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"

namespace shoal::redfish {

enum class PropertyKind : std::uint8_t {
  kBoolean,
  kString,
  kInteger,
  kNumber,
  kEnumeration,
  kComplex,  // an object of `type`
  kArray,    // of `element`
  kLink,     // {"@odata.id": ...}, or the resource itself where the standard expands it
  kAny,      // a primitive of any type, or a free-form object such as Oem
};
std::string_view Name(PropertyKind kind);

// The format of a string beyond its `pattern`.
enum class StringFormat : std::uint8_t { kPlain, kDateTime, kDuration, kGuid };

struct Property {
  std::string name;
  PropertyKind kind = PropertyKind::kAny;
  StringFormat format = StringFormat::kPlain;
  // Whether PATCH may set the property. A complex property is never writable itself; its members
  // are.
  bool writable = false;
  bool nullable = true;
  // Whether every body of the resource, or every request of the action, has the property.
  bool required = false;
  // Whether every POST that makes a resource of the type has the property.
  bool required_on_create = false;
  // Whether the property is a secret, which is null in every response.
  bool write_only = false;
  // The minor version of the type that introduced the property, e.g. {1, 5}.
  std::uint16_t since_major = 0;
  std::uint16_t since_minor = 0;
  // The complex type of a kComplex property: "ComputerSystem.Boot".
  std::string type;
  // The type that a kLink property leads to: "Chassis.Chassis".
  std::string target;
  // The values of a kEnumeration property, in the standard's order.
  std::vector<std::string> values;
  std::optional<double> minimum;
  std::optional<double> maximum;
  // An ECMA-262 expression, or empty when any text is allowed.
  std::string pattern;
  // The element of a kArray property.
  std::unique_ptr<Property> element;

  // An excerpt is a part of a resource that is shown inside another one (DSP0266, "Excerpt").
  // Whether excerpts show the property: excerpts with one of the keys, or all excerpts when there
  // are no keys.
  bool excerpt = false;
  std::vector<std::string> excerpt_keys;
  // Whether only excerpts have the property, and not the resource itself.
  bool copy_only = false;
  // A kLink property, or an array of them, may hold the excerpt of `target` with this key in place
  // of a link; an empty key stands for the excerpt that any key shows.
  std::optional<std::string> excerpt_copy;
};

struct ActionDefinition {
  // "ComputerSystem.Reset".
  std::string name;
  std::vector<Property> parameters;
};

// The methods that the type's Capabilities allow; GET is always allowed.
struct AllowedMethods {
  bool insert = false;  // POST to a collection
  bool update = false;  // PATCH
  bool remove = false;  // DELETE
};

class Schema {
 public:
  // NOT_FOUND: no such file. DATA_LOSS: the file is no table, or has another format version.
  static absl::StatusOr<std::shared_ptr<const Schema>> Load(const std::string& path);
  ~Schema();

  bool Knows(std::string_view odata_type) const;
  // Returns the property that `pointer` names in a body of `odata_type`, such as
  // "/Boot/BootSourceOverrideTarget". An index names the array's element. Returns nullptr when the
  // type has no such property.
  const Property* Find(std::string_view odata_type, std::string_view pointer) const;
  // Returns false for a type that is unknown or does not allow PATCH, and for a property that Find
  // does not find.
  bool IsWritable(std::string_view odata_type, std::string_view pointer) const;
  // Returns all properties of the type at its version, without the members of complex ones.
  std::vector<const Property*> Properties(std::string_view odata_type) const;
  // Returns the properties of a complex type, which Property::type names, at the version of
  // `odata_type`.
  std::vector<const Property*> Members(std::string_view odata_type, const Property& complex) const;
  // Returns the properties that the excerpt of a type shows with `key`, or with any key when it is
  // empty. A type without excerpts has none.
  std::vector<const Property*> ExcerptProperties(std::string_view odata_type,
                                                 std::string_view key = {}) const;
  // Returns "ComputerSystem.ComputerSystem" for a collection of them; empty when the type is no
  // collection.
  std::string_view MemberType(std::string_view odata_type) const;
  // Returns false for every method of an unknown type.
  AllowedMethods Methods(std::string_view odata_type) const;
  // Returns nullptr when the type has no such action. `action` is as in bodies, without '#'.
  const ActionDefinition* FindAction(std::string_view odata_type, std::string_view action) const;
  // 64 hexadecimal digits: the SHA-256 of the table's file.
  const std::string& digest() const;
  // The number of types in the table, complex ones included.
  std::size_t size() const;

 private:
  struct Table;
  explicit Schema(std::unique_ptr<const Table> table);
  const std::unique_ptr<const Table> table_;
};

// Returns an empty text when `value` fits `property`, or else the reason as a message of the
// standard's registry: "PropertyValueTypeError", "PropertyValueNotInList",
// "PropertyValueOutOfRange", "PropertyValueFormatError". Members of complex values are not visited.
std::string_view Misfit(const Property& property, const nlohmann::json& value);

}  // namespace shoal::redfish
