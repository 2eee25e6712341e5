// SPDX-License-Identifier: Apache-2.0
// What the BIOS attributes of a service may be: its AttributeRegistry (DSP2046, AttributeRegistry).
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
  // Nothing when `json` is no attribute registry; attributes and dependencies that cannot be read
  // are left out.
  static std::optional<AttributeRegistry> Parse(const nlohmann::json& json);

  // As resources name it: "BiosAttributeRegistry.v1_0_3".
  const std::string& id() const { return id_; }

  // Whether `attribute` may become `value` while all attributes are `current`, an object by name:
  // empty when it may, otherwise the reason in words of the standard's message registry. One that
  // is immutable, read-only by a dependency that holds, or read-only by itself and without such
  // dependencies, is "PropertyNotWritable".
  std::string_view Misfit(const std::string& attribute, const nlohmann::json& value,
                          const nlohmann::json& current) const;

  // What a reset to defaults makes of `attribute`; null when the registry does not say, or nobody
  // may change it.
  const nlohmann::json* Default(const std::string& attribute) const;
  bool HasPasswords() const { return !passwords_.empty(); }
  bool IsPassword(const std::string& attribute) const { return passwords_.contains(attribute); }

 private:
  struct Attribute {
    Property property;
    nlohmann::json default_value;
    bool immutable = false;
    bool read_only = false;
  };
  struct Condition {
    std::string attribute;
    std::string comparison;  // "EQU", "NEQ", "GTR", "GEQ", "LSS", "LEQ"
    nlohmann::json value;
    bool alternative = false;  // OR with those before; AND else
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
  // By the attribute they are for, in the registry's order: the last that holds counts.
  std::map<std::string, std::vector<Dependency>> dependencies_;
};

// The registry of that id; in several languages, the first. Nothing when the capture lacks it.
std::optional<AttributeRegistry> FindAttributeRegistry(const Capture& capture, std::string_view id);

// What a reset to defaults makes of `attributes`, an object by name: those that `registry`, which
// may be null, gives no default stay.
nlohmann::json DefaultAttributes(const nlohmann::json& attributes,
                                 const AttributeRegistry* registry);

}  // namespace shoal::redfish
