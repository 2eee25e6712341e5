// SPDX-License-Identifier: Apache-2.0
// Which privileges a request needs: a privilege registry (DSP8011; DSP0266, "Redfish service
// operation-to-privilege mapping").
//
//   registry->Allows({.method = "PATCH", .entity = "ManagerAccount", .properties = names},
//   granted);
//
// Immutable after Load, shared by pointer, safe for any number of threads.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/runtime/status.h"
#include "redfish/schema/allowable_values.h"

namespace shoal::redfish {

class PrivilegeRegistry {
 public:
  // Borrows for the length of the call.
  struct Operation {
    // "GET", "HEAD", "PATCH", "PUT", "POST" or "DELETE"; any other is refused. An action is a POST
    // to its resource.
    std::string_view method;
    // The resource's type without version, "ManagerAccount": EntityOf its @odata.type.
    std::string_view entity;
    // The entities that it is subordinate to, the outermost first: AncestorEntities.
    std::span<const std::string> ancestors = {};
    // Canonical.
    std::string_view uri = {};
    // Top-level properties that the request writes; annotations among them do not count.
    std::span<const std::string> properties = {};
  };

  // From an archive or folder that holds one "..._PrivilegeRegistry.json". NOT_FOUND: none there.
  // DATA_LOSS: it is no privilege registry, or an operation in it needs nothing at all.
  static absl::StatusOr<std::shared_ptr<const PrivilegeRegistry>> Load(const std::string& path);
  // `name` is what errors call it.
  static absl::StatusOr<std::shared_ptr<const PrivilegeRegistry>> Parse(const std::string& name,
                                                                        const nlohmann::json& json);

  // Whether a user with the privileges `granted` may do it; nobody has none. The registry lists
  // alternatives, each of privileges that are needed together; NoAuth needs none. The mapping of
  // the URI goes before that of the ancestors, and that before the entity's own; where one says
  // nothing of the method, the next counts. Each property with a mapping of its own needs that,
  // all others what the resource needs, and every one must be allowed.
  //
  // ConfigureSelf says only that a user may change what is its own: REQUIRES `granted` has it for
  // the user's own account or session alone.
  //
  // An entity that the registry lacks, such as an OEM's, is read with Login and changed with
  // ConfigureManager.
  bool Allows(const Operation& operation, std::span<const std::string> granted) const;

  std::size_t size() const { return mappings_.size(); }

 private:
  // Any one of them suffices.
  using Alternatives = std::vector<std::vector<std::string>>;
  using OperationMap = std::map<std::string, Alternatives, std::less<>>;
  struct Override {
    std::vector<std::string> targets;
    OperationMap operations;
  };
  struct Mapping {
    OperationMap operations;
    std::vector<Override> by_ancestors;
    std::vector<Override> by_uri;
    std::vector<Override> by_property;
  };

  static OperationMap ReadOperations(const nlohmann::json& json);
  static std::vector<Override> ReadOverrides(const nlohmann::json& mapping, const char* name);
  static const Alternatives* ForResource(const Mapping& mapping, const Operation& operation);
  static const Alternatives* ForProperty(const Mapping& mapping, const Operation& operation,
                                         const std::string& property);

  std::map<std::string, Mapping, std::less<>> mappings_;
};

// "ManagerAccount" of "#ManagerAccount.v1_12_0.ManagerAccount"; empty for what is no type.
std::string EntityOf(std::string_view odata_type);

// Entities of the resources above canonical `uri`, the outermost first, as its path has them;
// levels at which `find` finds no resource are left out.
std::vector<std::string> AncestorEntities(std::string_view uri, const FindResource& find);

}  // namespace shoal::redfish
