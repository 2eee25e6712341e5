// SPDX-License-Identifier: Apache-2.0
// A service's AttributeRegistry (DSP2046, AttributeRegistry): the values that its BIOS attributes
// may take.
//
// Immutable, safe for any number of threads.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "redfish/capture/capture.h"
#include "redfish/schema/schema.h"

namespace shoal::redfish {

class AttributeRegistry {
 public:
  // Returns nothing when `json` is no attribute registry. Attributes and dependencies that cannot
  // be read are left out.
  static std::optional<AttributeRegistry> Parse(const nlohmann::json& json);

  // The registry's id as resources name it: "BiosAttributeRegistry.v1_0_3".
  const std::string& id() const { return id_; }

  // Checks whether `attribute` may become `value` while all attributes are `current`, an object by
  // name. Returns an empty text when it may, or else the reason as a message of the standard's
  // registry. "PropertyNotWritable" means that the attribute is immutable, is read-only by the last
  // dependency that holds, or is read-only by itself and has no such dependencies.
  std::string_view Misfit(const std::string& attribute, const nlohmann::json& value,
                          const nlohmann::json& current) const;

  // Returns the attributes whose present values may keep `attribute` from being written: those of
  // every condition that holds in a dependency which makes it read-only, though other conditions of
  // the dependency may not hold. `current` has all attributes by name.
  std::set<std::string> LocksOf(const std::string& attribute, const nlohmann::json& current) const;
  // Returns the attributes that others may make read-only, in ascending order.
  std::vector<std::string> Lockable() const;

  // Returns the value that a reset to defaults gives `attribute`. Returns null when the registry
  // has no such value, or when nobody may change the attribute.
  const nlohmann::json* Default(const std::string& attribute) const;
  // Returns the attribute as a property whose name is the attribute's. Returns null when the
  // registry lacks it, when nobody may change it, or when it is a password.
  const Property* FindWritable(const std::string& attribute) const;
  // Returns the attribute's type and values; nullptr when the registry lacks it.
  const Property* Find(const std::string& attribute) const;
  // Returns the name that people read in setup; empty when there is none.
  std::string DisplayName(const std::string& attribute) const;
  bool HasPasswords() const { return !passwords_.empty(); }
  bool IsPassword(const std::string& attribute) const { return passwords_.contains(attribute); }

 private:
  struct Attribute {
    Property property;
    std::string display_name;
    nlohmann::json default_value;
    bool immutable = false;
    bool read_only = false;
  };
  struct Condition {
    std::string attribute;
    std::string comparison;  // "EQU", "NEQ", "GTR", "GEQ", "LSS", "LEQ"
    nlohmann::json value;
    bool alternative = false;  // true: OR with the conditions before it; false: AND
  };
  struct Dependency {
    std::vector<Condition> conditions;
    bool read_only = false;
  };

  void AddAttribute(const nlohmann::json& entry);
  void AddDependency(const nlohmann::json& entry);
  static bool Holds(const Condition& condition, const nlohmann::json& current);
  static bool Holds(const Dependency& dependency, const nlohmann::json& current);

  std::string id_;
  std::map<std::string, Attribute> attributes_;
  std::set<std::string> passwords_;
  // Dependencies by the attribute that they are for, in the registry's order: the last one that
  // holds counts.
  std::map<std::string, std::vector<Dependency>> dependencies_;
};

// Returns the registry of that id, the first one where several languages exist. Returns nothing
// when the capture lacks it.
std::optional<AttributeRegistry> FindAttributeRegistry(const Capture& capture, std::string_view id);

// Returns `attributes`, an object by name, after a reset to defaults. Attributes without a default
// in `registry`, which may be null, stay.
nlohmann::json DefaultAttributes(const nlohmann::json& attributes,
                                 const AttributeRegistry* registry);

}  // namespace shoal::redfish
