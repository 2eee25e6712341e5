// SPDX-License-Identifier: Apache-2.0
// What the standard says about resource types: properties, what is writable, methods, actions.
//
// A compact table compiled from DMTF's CSDL (data/schema/README.md). A type is named as bodies name
// it: "#ComputerSystem.v1_13_0.ComputerSystem"; the '#' may be missing. A property counts when the
// named version has it. A version that the table does not know stands for the newest one below it;
// no version ("ChassisCollection.ChassisCollection") for the newest of all. OEM types are unknown:
// nothing is found in them. Immutable, safe for any number of threads; pointers live as long as the
// Schema.
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

// What a string must look like beyond `pattern`.
enum class StringFormat : std::uint8_t { kPlain, kDateTime, kDuration, kGuid };

struct Property {
  std::string name;
  PropertyKind kind = PropertyKind::kAny;
  StringFormat format = StringFormat::kPlain;
  // Whether PATCH may set it. A complex property is never writable itself; its members are.
  bool writable = false;
  bool nullable = true;
  // Whether every body of the resource, or every request of the action, has it.
  bool required = false;
  // Whether every POST that makes a resource of the type has it.
  bool required_on_create = false;
  // A secret: null in every response.
  bool write_only = false;
  // Minor version of the type that brought it, e.g. {1, 5}.
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
  // ECMA-262 expression, empty when any text will do.
  std::string pattern;
  // What a kArray property holds.
  std::unique_ptr<Property> element;

  // Excerpts show a part of a resource inside another one (DSP0266, "Excerpt").
  // Excerpts show the property: those with one of the keys, or all when there are no keys.
  bool excerpt = false;
  std::vector<std::string> excerpt_keys;
  // Whether only excerpts have it, and not the resource itself.
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

// Which methods the type's Capabilities allow; GET is always allowed.
struct AllowedMethods {
  bool insert = false;  // POST to a collection
  bool update = false;  // PATCH
  bool remove = false;  // DELETE
};

class Schema {
 public:
  // NOT_FOUND: no such file. DATA_LOSS: not a table, or of another format version.
  static absl::StatusOr<std::shared_ptr<const Schema>> Load(const std::string& path);
  ~Schema();

  bool Knows(std::string_view odata_type) const;
  // The property that `pointer` names in a body of `odata_type`: "/Boot/BootSourceOverrideTarget".
  // An index names the array's element. nullptr when the type has no such property.
  const Property* Find(std::string_view odata_type, std::string_view pointer) const;
  // False for a type that is unknown or does not allow PATCH, and for what Find does not find.
  bool IsWritable(std::string_view odata_type, std::string_view pointer) const;
  // All properties of the type at its version, members of complex ones not included.
  std::vector<const Property*> Properties(std::string_view odata_type) const;
  // The properties of a complex type, named as Property::type names it, at the version of
  // `odata_type`.
  std::vector<const Property*> Members(std::string_view odata_type, const Property& complex) const;
  // What the excerpt of a type shows: with `key`, or with any when it is empty. Nothing for a type
  // that has no excerpts.
  std::vector<const Property*> ExcerptProperties(std::string_view odata_type,
                                                 std::string_view key = {}) const;
  // "ComputerSystem.ComputerSystem" of a collection of them; empty for what is no collection.
  std::string_view MemberType(std::string_view odata_type) const;
  // For an unknown type every method is false.
  AllowedMethods Methods(std::string_view odata_type) const;
  // nullptr when the type has no such action. `action` as in bodies, without '#'.
  const ActionDefinition* FindAction(std::string_view odata_type, std::string_view action) const;
  // 64 hexadecimal digits: SHA-256 of the table's file.
  const std::string& digest() const;
  // Types in the table, complex ones included.
  std::size_t size() const;

 private:
  struct Table;
  explicit Schema(std::unique_ptr<const Table> table);
  const std::unique_ptr<const Table> table_;
};

// Whether `value` fits `property`: empty when it does, otherwise the reason in words of the
// standard's message registry: "PropertyValueTypeError", "PropertyValueNotInList",
// "PropertyValueOutOfRange", "PropertyValueFormatError". Members of complex values are not visited.
std::string_view Misfit(const Property& property, const nlohmann::json& value);

}  // namespace shoal::redfish
