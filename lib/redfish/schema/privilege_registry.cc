// SPDX-License-Identifier: Apache-2.0
#include "redfish/schema/privilege_registry.h"

#include <algorithm>
#include <utility>

#include "redfish/capture/archive.h"
#include "redfish/capture/uri.h"
#include "redfish/schema/schema_format.h"

namespace shoal::redfish {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kNoAuth = "NoAuth";

bool Contains(std::span<const std::string> texts, std::string_view text) {
  return std::find(texts.begin(), texts.end(), text) != texts.end();
}

// Returns whether `targets` appear among `ancestors` in this order, perhaps with others in between.
bool IsBelow(std::span<const std::string> ancestors, std::span<const std::string> targets) {
  auto next = targets.begin();
  for (const std::string& ancestor : ancestors) {
    if (next != targets.end() && *next == ancestor) ++next;
  }
  return next == targets.end();
}

bool Holds(std::span<const std::string> granted, const std::vector<std::string>& together) {
  return std::all_of(together.begin(), together.end(), [&](const std::string& privilege) {
    return privilege == kNoAuth || Contains(granted, privilege);
  });
}

bool HoldsAny(std::span<const std::string> granted,
              const std::vector<std::vector<std::string>>* alternatives) {
  return alternatives != nullptr &&
         std::any_of(alternatives->begin(), alternatives->end(),
                     [&](const auto& together) { return Holds(granted, together); });
}

bool AllowsUnmapped(std::string_view method, std::span<const std::string> granted) {
  const bool reads = method == "GET" || method == "HEAD";
  const bool changes =
      method == "PATCH" || method == "PUT" || method == "POST" || method == "DELETE";
  return (reads && Contains(granted, "Login")) ||
         (changes && Contains(granted, "ConfigureManager"));
}

}  // namespace

PrivilegeRegistry::OperationMap PrivilegeRegistry::ReadOperations(const Json& json) {
  OperationMap operations;
  for (const auto& [method, list] : json.at("OperationMap").items()) {
    Alternatives& alternatives = operations[method];
    for (const Json& one : list) {
      alternatives.push_back(one.at("Privilege").get<std::vector<std::string>>());
    }
  }
  return operations;
}

std::vector<PrivilegeRegistry::Override> PrivilegeRegistry::ReadOverrides(const Json& mapping,
                                                                          const char* name) {
  std::vector<Override> overrides;
  const auto found = mapping.find(name);
  if (found == mapping.end()) return overrides;
  for (const Json& one : *found) {
    overrides.push_back({one.at("Targets").get<std::vector<std::string>>(), ReadOperations(one)});
  }
  return overrides;
}

absl::StatusOr<std::shared_ptr<const PrivilegeRegistry>> PrivilegeRegistry::Parse(
    const std::string& name, const Json& json) {
  const auto registry = std::make_shared<PrivilegeRegistry>();
  const auto needs_something = [](const OperationMap& operations) {
    return std::all_of(operations.begin(), operations.end(), [](const auto& operation) {
      const Alternatives& any = operation.second;
      return !any.empty() &&
             std::none_of(any.begin(), any.end(), [](const auto& all) { return all.empty(); });
    });
  };
  try {
    for (const Json& from : json.at("Mappings")) {
      Mapping& mapping = registry->mappings_[from.at("Entity").get<std::string>()];
      mapping.operations = ReadOperations(from);
      mapping.by_ancestors = ReadOverrides(from, "SubordinateOverrides");
      mapping.by_uri = ReadOverrides(from, "ResourceURIOverrides");
      mapping.by_property = ReadOverrides(from, "PropertyOverrides");
      bool complete = needs_something(mapping.operations);
      for (const auto* overrides : {&mapping.by_ancestors, &mapping.by_uri, &mapping.by_property}) {
        for (const Override& one : *overrides)
          complete = complete && needs_something(one.operations);
      }
      if (!complete) return runtime::DataLoss(name + " lists an operation without privileges");
    }
  } catch (const Json::exception& error) {
    return runtime::DataLoss(name + " is no privilege registry: " + error.what());
  }
  return registry;
}

absl::StatusOr<std::shared_ptr<const PrivilegeRegistry>> PrivilegeRegistry::Load(
    const std::string& path) {
  SHOAL_ASSIGN_OR_RETURN(const Archive archive, ReadArchive(path, "_PrivilegeRegistry.json"));
  if (archive.files.empty()) return runtime::NotFound("no privilege registry in " + path);
  const ArchiveFile& file = archive.files.front();
  return Parse(path + ": " + file.path, Json::parse(file.bytes, nullptr, false));
}

const PrivilegeRegistry::Alternatives* PrivilegeRegistry::ForResource(const Mapping& mapping,
                                                                      const Operation& operation) {
  for (const Override& one : mapping.by_uri) {
    const auto found = one.operations.find(operation.method);
    if (found != one.operations.end() && Contains(one.targets, operation.uri)) {
      return &found->second;
    }
  }
  for (const Override& one : mapping.by_ancestors) {
    const auto found = one.operations.find(operation.method);
    if (found != one.operations.end() && IsBelow(operation.ancestors, one.targets)) {
      return &found->second;
    }
  }
  const auto found = mapping.operations.find(operation.method);
  return found == mapping.operations.end() ? nullptr : &found->second;
}

const PrivilegeRegistry::Alternatives* PrivilegeRegistry::ForProperty(const Mapping& mapping,
                                                                      const Operation& operation,
                                                                      const std::string& property) {
  for (const Override& one : mapping.by_property) {
    const auto found = one.operations.find(operation.method);
    if (found != one.operations.end() && Contains(one.targets, property)) return &found->second;
  }
  return ForResource(mapping, operation);
}

bool PrivilegeRegistry::Allows(const Operation& operation,
                               std::span<const std::string> granted) const {
  const auto found = mappings_.find(operation.entity);
  if (found == mappings_.end()) return AllowsUnmapped(operation.method, granted);
  const Mapping& mapping = found->second;
  bool has_property = false;
  for (const std::string& property : operation.properties) {
    if (property.find('@') != std::string::npos) continue;
    has_property = true;
    if (!HoldsAny(granted, ForProperty(mapping, operation, property))) return false;
  }
  return has_property || HoldsAny(granted, ForResource(mapping, operation));
}

std::string EntityOf(std::string_view odata_type) {
  return format::ParseTypeName(odata_type).space;
}

std::vector<std::string> AncestorEntities(std::string_view uri, const FindResource& find) {
  std::vector<std::string> entities;
  for (std::size_t slash = uri.find('/', 1); slash != std::string_view::npos;
       slash = uri.find('/', slash + 1)) {
    const Json* const resource = find(std::string(uri.substr(0, slash)));
    if (resource == nullptr) continue;
    std::string entity = EntityOf(TextAt(*resource, "@odata.type"));
    if (!entity.empty()) entities.push_back(std::move(entity));
  }
  return entities;
}

}  // namespace shoal::redfish
